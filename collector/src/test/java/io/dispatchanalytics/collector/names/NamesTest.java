package io.dispatchanalytics.collector.names;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.dispatchanalytics.collector.options.BadOption;
import io.dispatchanalytics.collector.options.Options;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class NamesTest {
    private static final String TOPIC = "persistent://shop/eu/orders-partition-3";

    private static Names names(String options) throws BadOption {
        return Names.of(Options.parse("dir=/x," + options));
    }

    @Test
    void plainNamesStay() throws BadOption {
        Names names = names("");
        assertEquals(TOPIC, names.topic(TOPIC));
        assertEquals("billing", names.sub("billing"));
        assertEquals("10.0.0.1:77", names.remote("10.0.0.1:77"));
    }

    @Test
    void aHashKeepsTheFormOfATopicAndNothingElse() throws BadOption {
        Names names = names("topics=hash,subs=hash,remotes=hash");
        assertTrue(names.topic(TOPIC).matches("persistent://[0-9a-f]{16}/[0-9a-f]{16}/[0-9a-f]{16}-partition-3"), names.topic(TOPIC));
        assertTrue(names.sub("billing").matches("[0-9a-f]{16}"));
        assertTrue(names.remote("10.0.0.1:77").matches("[0-9a-f]{16}"));
        assertEquals(names.topic(TOPIC), names.topic(TOPIC));
        assertEquals(withoutPartition(names.topic(TOPIC)), withoutPartition(names.topic("persistent://shop/eu/orders-partition-4")));
        assertNotEquals(names.topic("persistent://shop/eu/a"), names.topic("persistent://shop/us/a"));
    }

    private static String withoutPartition(String topic) {
        return topic.substring(0, topic.indexOf("-partition-"));
    }

    @Test
    void numbersStandForOmittedNames() throws BadOption {
        Names names = names("topics=omit,subs=omit,remotes=omit");
        assertEquals("persistent://1/2/3-partition-3", names.topic(TOPIC));
        assertEquals("persistent://1/2/4", names.topic("persistent://shop/eu/refunds"));
        assertEquals("1", names.sub("billing"));
        assertEquals("1", names.sub("billing"));
        assertNull(names.remote("10.0.0.1:77"));
    }

    @Test
    void whatTheBrokerNamedKeepsItsName() throws BadOption {
        Names names = names("topics=hash,subs=hash");
        assertTrue(names.topic("persistent://shop/eu/__change_events").matches("persistent://[0-9a-f]{16}/[0-9a-f]{16}/__change_events"));
        assertEquals("persistent://pulsar/standalone/h:1/healthcheck", names.topic("persistent://pulsar/standalone/h:1/healthcheck"));
        assertEquals("__compaction", names.sub("__compaction"));
        assertEquals("pulsar.dedup", names.sub("pulsar.dedup"));
        assertFalse(Names.isOfSystem("persistent://pulsar2/a/b"));
    }

    @Test
    void oneKeyGivesOneHash(@TempDir Path folder) throws IOException, BadOption {
        Path key = folder.resolve("key");
        Files.writeString(key, "0123456789abcdef");
        String options = "topics=hash,hash_key_file=" + key;
        assertEquals(names(options).topic(TOPIC), names(options).topic(TOPIC));
        assertNotEquals(names("topics=hash").topic(TOPIC), names("topics=hash").topic(TOPIC));
        Files.writeString(key, "short");
        assertThrows(BadOption.class, () -> names(options));
        assertThrows(BadOption.class, () -> names("hash_key_file=" + folder.resolve("none")));
    }
}
