package io.dispatchanalytics.collector.names;

import io.dispatchanalytics.collector.options.BadOption;
import io.dispatchanalytics.collector.options.Option;
import io.dispatchanalytics.collector.options.Options;
import java.io.IOException;
import java.nio.file.Files;
import java.security.SecureRandom;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Names of topics, subscriptions and clients as the log shows them.
 *
 * A disguised topic name keeps its form, for readers depend on it: scheme, three parts, the number of the partition,
 * and what marks a topic of the system.
 */
public final class Names {
    private static final int KEY_BYTES = 32;
    private static final Pattern TOPIC = Pattern.compile("(\\w+://)([^/]+)/([^/]+)/(.+?)(-partition-\\d+)?");
    private static final String SYSTEM_TENANT = "pulsar";
    private static final String SYSTEM_PREFIX = "__";
    private static final String SYSTEM_CURSOR_PREFIX = "pulsar.";

    private final Disguise topics;
    private final Disguise subs;
    private final Disguise remotes;

    private Names(Disguise topics, Disguise subs, Disguise remotes) {
        this.topics = topics;
        this.subs = subs;
        this.remotes = remotes;
    }

    /** As the options want it. */
    public static Names of(Options options) throws BadOption {
        byte[] key = key(options);
        return new Names(
                new Disguise(options.style(Option.TOPICS), key),
                new Disguise(options.style(Option.SUBS), key),
                new Disguise(options.style(Option.REMOTES), key));
    }

    private static byte[] key(Options options) throws BadOption {
        if (options.hashKeyFile() == null) {
            byte[] random = new byte[KEY_BYTES];
            new SecureRandom().nextBytes(random);
            return random;
        }
        try {
            byte[] key = Files.readAllBytes(options.hashKeyFile());
            if (key.length < KEY_BYTES / 2) {
                throw new BadOption("hash_key_file=" + options.hashKeyFile() + ": the key has fewer than " + KEY_BYTES / 2 + " bytes");
            }
            return key;
        } catch (IOException fault) {
            throw new BadOption("hash_key_file=" + options.hashKeyFile() + " cannot be read: " + fault);
        }
    }

    /** Whether a topic is of the broker itself: tenant `pulsar`, or a name that begins with two underscores. */
    public static boolean isOfSystem(String topic) {
        int scheme = topic.indexOf("://");
        return topic.startsWith(SYSTEM_TENANT + "/", scheme + 3) || topic.startsWith(SYSTEM_PREFIX, topic.lastIndexOf('/') + 1);
    }

    /** A full topic name as the log shows it. */
    public String topic(String topic) {
        if (topics.isPlain()) {
            return topic;
        }
        Matcher parts = TOPIC.matcher(topic);
        if (!parts.matches()) {
            return topics.of(topic);
        }
        if (parts.group(2).equals(SYSTEM_TENANT)) {
            return topic;
        }
        // Each part by itself: a namespace's topics stay together.
        String namespace = parts.group(2) + "/" + parts.group(3);
        String shown = parts.group(1) + topics.of(parts.group(2)) + "/" + topics.of(namespace) + "/";
        // What the broker itself named is no secret, and readers know it by its name.
        String local = parts.group(4);
        String partition = parts.group(5) == null ? "" : parts.group(5);
        return shown + (local.startsWith(SYSTEM_PREFIX) ? local : topics.of(namespace + "/" + local)) + partition;
    }

    /** A subscription as the log shows it. Cursors of deduplication and replication are known by their names, too. */
    public String sub(String sub) {
        return sub.startsWith(SYSTEM_PREFIX) || sub.startsWith(SYSTEM_CURSOR_PREFIX) ? sub : subs.of(sub);
    }

    /** The name of a client's consumer or producer as the log shows it; null: it has none, or it is left out. */
    public String client(String name) {
        return name == null || remotes.isOmitted() ? null : remotes.of(name);
    }

    /** A client's address as the log shows it; null: it is left out. */
    public String remote(String remote) {
        return remotes.isOmitted() ? null : remotes.of(remote);
    }
}
