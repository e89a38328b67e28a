package io.dispatchanalytics.collector.broker;

import io.dispatchanalytics.collector.log.Event;
import io.dispatchanalytics.collector.log.EventQueue;
import io.dispatchanalytics.collector.log.Fragments;
import io.dispatchanalytics.collector.log.Json;
import io.dispatchanalytics.collector.names.Names;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import org.apache.pulsar.broker.service.persistent.PersistentTopic;
import org.apache.pulsar.common.policies.data.BacklogQuota;
import org.apache.pulsar.common.policies.data.BacklogQuota.BacklogQuotaType;
import org.apache.pulsar.common.policies.data.DispatchRate;
import org.apache.pulsar.common.policies.data.HierarchyTopicPolicies;
import org.apache.pulsar.common.policies.data.PolicyHierarchyValue;
import org.apache.pulsar.common.policies.data.SubscriptionPolicies;

/** Policies as they are set, at each level, in the eyes of the topics of this broker. What was written last is not written again. */
final class PoliciesAsSet {
    private static final Fragments KIND = new Fragments("policy_kind");
    private static final byte[] NOTHING = {};
    private static final String OF_TOPIC = "topic_dispatch_rate";
    private static final String OF_SUB = "subscription_dispatch_rate";
    private static final String OF_REPLICATOR = "replicator_dispatch_rate";
    private static final String OF_BROKER = "broker_dispatch_rate";
    private static final String QUOTA = "backlog_quota";

    private final EventQueue queue;
    /** Of the broker and of namespaces, by what is set where. */
    private final Map<String, byte[]> written = new ConcurrentHashMap<>();

    PoliciesAsSet(EventQueue queue) {
        this.queue = queue;
    }

    /** The rate of the broker's own limiter. */
    void ofBroker(DispatchRate rate) {
        ofBroker(OF_BROKER, KIND.of(OF_BROKER), values(rate));
    }

    /** Where this rate of the broker's own limiter is set, before it is written. */
    String sourceOfBrokerRate(DispatchRate rate) {
        byte[] first = written.get(PolicySources.BROKER_CONFIG + OF_BROKER);
        return first == null || Arrays.equals(first, values(rate)) ? sourceOfBroker(OF_BROKER) : PolicySources.DYNAMIC_CONFIG;
    }

    /** Where values of the broker are set: in its file, or, when they have changed since its start, dynamically. */
    String sourceOfBroker(String key) {
        return written.containsKey(PolicySources.DYNAMIC_CONFIG + key) ? PolicySources.DYNAMIC_CONFIG : PolicySources.BROKER_CONFIG;
    }

    /** Where the rate of a limiter is set; null: nowhere. */
    String sourceOfRate(PersistentTopic topic, String sub) {
        HierarchyTopicPolicies policies = topic.getHierarchyTopicPolicies();
        if (sub == null) {
            return PolicySources.of(policies.getDispatchRate(), sourceOfBroker(OF_TOPIC));
        }
        SubscriptionPolicies override = PolicySources.overrides(topic).get(sub);
        return override != null && override.getDispatchRate() != null ? PolicySources.SUBSCRIPTION
                : PolicySources.of(policies.getSubscriptionDispatchRate(), sourceOfBroker(OF_SUB));
    }

    /** Where a quota of a topic is set. */
    String sourceOfQuota(PersistentTopic topic, BacklogQuotaType type) {
        return PolicySources.of(topic.getHierarchyTopicPolicies().getBackLogQuotaMap().get(type), sourceOfBroker(QUOTA + type));
    }

    /** Policies of the broker, which a topic has from its making on. */
    synchronized void ofBroker(HierarchyTopicPolicies policies) {
        each(policies, (key, head, value) -> ofBroker(key, head, value.of(PolicyHierarchyValue::getBrokerValue)));
    }

    /** Policies of its namespace were set into a topic. Not before: until then the topic looks as if the namespace had none. */
    synchronized void ofNamespace(HierarchyTopicPolicies policies, String ofTopic, Names names) {
        byte[] namespace = Json.field("namespace", namespace(names.topic(ofTopic)));
        String where = new String(namespace, StandardCharsets.UTF_8);
        each(policies, (key, head, value) -> write(written, PolicySources.NAMESPACE, key + where, head, namespace,
                value.of(PolicyHierarchyValue::getNamespaceValue)));
    }

    /** Policies of its own were set into a topic, with those of its single subscriptions. */
    synchronized void ofTopic(HierarchyTopicPolicies policies, Map<String, SubscriptionPolicies> overrides, LoadedTopic loaded) {
        each(policies, (key, head, value) -> {
            write(loaded.policies, PolicySources.TOPIC_GLOBAL, key, head, loaded.fragment, value.of(PolicyHierarchyValue::getTopicGlobalValue));
            write(loaded.policies, PolicySources.TOPIC, key, head, loaded.fragment, value.of(PolicyHierarchyValue::getTopicValue));
        });
        overrides(overrides, loaded);
    }

    /** One policy of a topic: what is set at a level, as JSON. */
    private interface Values {
        byte[] of(Function<PolicyHierarchyValue<?>, Object> level);
    }

    /** What is done with each. */
    private interface Visit {
        void policy(String key, byte[] head, Values values);
    }

    private static void each(HierarchyTopicPolicies policies, Visit visit) {
        visit.policy(OF_TOPIC, KIND.of(OF_TOPIC), level -> values((DispatchRate) level.apply(policies.getDispatchRate())));
        visit.policy(OF_SUB, KIND.of(OF_SUB), level -> values((DispatchRate) level.apply(policies.getSubscriptionDispatchRate())));
        visit.policy(OF_REPLICATOR, KIND.of(OF_REPLICATOR), level -> values((DispatchRate) level.apply(policies.getReplicatorDispatchRate())));
        policies.getBackLogQuotaMap().forEach((type, value) -> visit.policy(QUOTA + type,
                Json.joined(KIND.of(QUOTA), Json.field("quota_type", type.name())), level -> values(type, (BacklogQuota) level.apply(value))));
    }

    /** A change after the first value is a dynamic one: the broker's file is read once. */
    private void ofBroker(String key, byte[] head, byte[] values) {
        byte[] first = written.get(PolicySources.BROKER_CONFIG + key);
        boolean dynamic = first != null && (written.containsKey(PolicySources.DYNAMIC_CONFIG + key) || !Arrays.equals(first, values));
        write(written, dynamic ? PolicySources.DYNAMIC_CONFIG : PolicySources.BROKER_CONFIG, key, head, NOTHING, values);
    }

    private void overrides(Map<String, SubscriptionPolicies> found, LoadedTopic topic) {
        Set<String> names = new HashSet<>(found.keySet());
        names.addAll(topic.overridden);
        for (String sub : names) {
            SubscriptionPolicies policies = found.get(sub);
            write(topic.policies, PolicySources.SUBSCRIPTION, sub, KIND.of(OF_SUB), topic.sub(sub).fragment,
                    values(policies == null ? null : policies.getDispatchRate()));
        }
        topic.overridden = Set.copyOf(found.keySet());
    }

    /** Without values: it is set there no more. Never set is not worth an event. */
    private void write(Map<String, byte[]> written, String source, String key, byte[] head, byte[] of, byte[] values) {
        byte[] before = written.put(source + key, values);
        if (!Arrays.equals(before == null ? NOTHING : before, values)) {
            queue.put(Event.of(Fields.POLICY_SET).with(PolicySources.FIELD.of(source)).with(head).with(of).with(values));
        }
    }

    private static String namespace(String topic) {
        int from = topic.indexOf("://") + 3;
        return topic.substring(from, topic.lastIndexOf('/'));
    }

    /** A rate without a limit counts as none. */
    private static byte[] values(DispatchRate rate) {
        if (rate == null || rate.getDispatchThrottlingRateInMsg() <= 0 && rate.getDispatchThrottlingRateInByte() <= 0) {
            return NOTHING;
        }
        return (",\"msg_rate\":" + rate.getDispatchThrottlingRateInMsg() + ",\"byte_rate\":" + rate.getDispatchThrottlingRateInByte()
                + ",\"period_s\":" + rate.getRatePeriodInSecond() + ",\"relative\":" + rate.isRelativeToPublishRate())
                .getBytes(StandardCharsets.US_ASCII);
    }

    private static byte[] values(BacklogQuotaType type, BacklogQuota quota) {
        if (quota == null || quota.getPolicy() == null) {
            return NOTHING;
        }
        long limit = type == BacklogQuotaType.destination_storage ? quota.getLimitSize() : quota.getLimitTime();
        return (",\"limit\":" + limit + ",\"policy\":\"" + quota.getPolicy().name() + "\"").getBytes(StandardCharsets.US_ASCII);
    }
}
