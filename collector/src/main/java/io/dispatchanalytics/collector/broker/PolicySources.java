package io.dispatchanalytics.collector.broker;

import io.dispatchanalytics.collector.log.Fragments;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Map;
import org.apache.pulsar.broker.service.AbstractTopic;
import org.apache.pulsar.common.policies.data.PolicyHierarchyValue;
import org.apache.pulsar.common.policies.data.SubscriptionPolicies;

/** Where the value of a policy is set that a topic applies: the strongest place that has one. */
final class PolicySources {
    static final String BROKER_CONFIG = "broker_config";
    static final String DYNAMIC_CONFIG = "dynamic_config";
    static final String NAMESPACE = "namespace";
    static final String TOPIC_GLOBAL = "topic_global";
    static final String TOPIC = "topic";
    static final String SUBSCRIPTION = "subscription";
    /** `,"source":…` */
    static final Fragments FIELD = new Fragments("source");
    private static final VarHandle OVERRIDES = overrides();

    private PolicySources() { }

    /** Of the value in force; null: none is set. */
    static String of(PolicyHierarchyValue<?> value, String ofBroker) {
        if (value.getTopicValue() != null) {
            return TOPIC;
        }
        if (value.getTopicGlobalValue() != null) {
            return TOPIC_GLOBAL;
        }
        return value.getNamespaceValue() != null ? NAMESPACE : value.getBrokerValue() != null ? ofBroker : null;
    }

    /** Policies of single subscriptions, by name. The broker has joined those of both kinds of topic policies. */
    @SuppressWarnings("unchecked")
    static Map<String, SubscriptionPolicies> overrides(AbstractTopic topic) {
        Map<String, SubscriptionPolicies> found = (Map<String, SubscriptionPolicies>) OVERRIDES.getVolatile(topic);
        return found == null ? Map.of() : found;
    }

    private static VarHandle overrides() {
        try {
            return MethodHandles.privateLookupIn(AbstractTopic.class, MethodHandles.lookup())
                    .findVarHandle(AbstractTopic.class, "subscriptionPolicies", Map.class);
        } catch (ReflectiveOperationException other) {
            throw new IllegalStateException("this broker's topics have no policies of subscriptions", other);
        }
    }
}
