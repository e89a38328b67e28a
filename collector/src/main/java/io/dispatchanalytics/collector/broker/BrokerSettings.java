package io.dispatchanalytics.collector.broker;

import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Pattern;
import org.apache.pulsar.broker.ServiceConfiguration;

/** The broker's configuration, as far as dispatching depends on it. Nothing of authentication is among it. */
final class BrokerSettings {
    private static final Pattern WANTED = Pattern.compile(
            "(acknowledgmentAtBatchIndexLevel|backlogQuota|brokerDeduplication|brokerDispatcher|brokerPublisherThrottling"
            + "|cacheEviction|delayedDelivery|dispatch|managedLedger(Cache|Cursor|Default|Max|Min)|maxMessagePublish|maxPendingPublish"
            + "|maxPublishRate|maxUnackedMessages|preciseDispatcher|preciseTimeBased|preciseTopicPublish|pulsarChannel|statsUpdate"
            + "|subscription(KeyShared|Redelivery|Shared|Types)|ttlDurationDefault).*"
            + "|brokerEntryMetadataInterceptors|transactionCoordinatorEnabled|enableReplicatedSubscriptions");

    private final ServiceConfiguration configuration;
    private final List<Field> fields = new ArrayList<>();

    BrokerSettings(ServiceConfiguration configuration) {
        this.configuration = configuration;
        for (Field field : ServiceConfiguration.class.getDeclaredFields()) {
            if (!Modifier.isStatic(field.getModifiers()) && WANTED.matcher(field.getName()).matches()) {
                field.setAccessible(true);
                fields.add(field);
            }
        }
    }

    /** As they are now: dynamic configuration changes the object. */
    Map<String, String> now() {
        Map<String, String> values = new TreeMap<>();
        for (Field field : fields) {
            try {
                Object value = field.get(configuration);
                if (value != null) {
                    values.put(field.getName(), value.toString());
                }
            } catch (IllegalAccessException impossible) {
                throw new IllegalStateException("setAccessible has succeeded", impossible);
            }
        }
        return values;
    }
}
