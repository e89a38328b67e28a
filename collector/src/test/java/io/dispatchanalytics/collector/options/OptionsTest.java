package io.dispatchanalytics.collector.options;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class OptionsTest {
    @Test
    void defaultsHoldWhereNothingIsGiven() throws BadOption {
        Options options = Options.parse("dir=/var/log/events");
        assertEquals(Path.of("/var/log/events"), options.folder());
        assertEquals(30_000_000_000L, options.rollNs());
        assertEquals(64L << 20, options.rollBytes());
        assertEquals(10_000_000_000L, options.stateNs());
        assertEquals(NameStyle.PLAIN, options.style(Option.TOPICS));
    }

    @Test
    void whatIsGivenHolds() throws BadOption {
        Options options = Options.parse("roll_s=5, dir=/a b,keep_mb=7,topics=hash,remotes=omit,");
        assertEquals(Path.of("/a b"), options.folder());
        assertEquals(5_000_000_000L, options.rollNs());
        assertEquals(7L << 20, options.keepBytes());
        assertEquals(NameStyle.HASH, options.style(Option.TOPICS));
        assertEquals(NameStyle.OMIT, options.style(Option.REMOTES));
    }

    @Test
    void statesCanBeSwitchedOff() throws BadOption {
        assertEquals(0, Options.parse("dir=/x,state_s=0").stateNs());
        assertEquals(3_000_000_000L, Options.parse("dir=/x,state_s=3").stateNs());
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
        "roll_s=5 | dir is missing",
        "dir=/x,rolls=5 | unknown option rolls",
        "dir=/x,roll_s | 'roll_s' is no option",
        "dir=/x,roll_s=0 | roll_s=0: expected a whole number",
        "dir=/x,roll_s=5s | roll_s=5s: expected a whole number",
        "dir=/x,keep_mb=9999999 | keep_mb=9999999: expected a whole number from 1 to 1000000",
        "dir=/x,state_s=-1 | state_s=-1: expected a whole number from 0 to 1000000",
        "dir=/x,queue_mb=2000 | queue_mb=2000 is too much",
        "dir=/x,topics=none | topics=none: expected plain, hash or omit",
        "dir= | dir=: expected a path",
        "dir=/x,dir=/y | dir is given twice",
    })
    void whatCannotWorkIsNamed(String text, String words) {
        BadOption bad = assertThrows(BadOption.class, () -> Options.parse(text));
        assertTrue(bad.getMessage().contains(words), bad.getMessage());
    }

    @Test
    void noOptionsAtAllLackTheFolder() {
        assertThrows(BadOption.class, () -> Options.parse(null));
    }

    @Test
    void theDocumentationHasEveryOption() throws IOException {
        String page = Files.readString(Path.of("../docs/guide/collector.md"));
        assertTrue(page.contains(Option.markdown()), "docs/guide/collector.md must have this table:\n" + Option.markdown());
    }
}
