package io.dispatchanalytics.collector.broker;

import io.dispatchanalytics.collector.log.Event;
import io.dispatchanalytics.collector.log.EventQueue;
import io.dispatchanalytics.collector.log.Json;
import java.nio.charset.StandardCharsets;
import org.apache.pulsar.broker.service.persistent.DispatchRateLimiter;
import org.apache.pulsar.broker.service.persistent.PersistentTopic;
import org.apache.pulsar.common.policies.data.BacklogQuota;
import org.apache.pulsar.common.policies.data.BacklogQuota.BacklogQuotaType;
import org.apache.pulsar.common.policies.data.DispatchRate;
import org.apache.pulsar.common.policies.data.HierarchyTopicPolicies;

/** Policies as applied: the rates of limiters, the quotas of topics. */
public final class Policies {
    private static final byte[] TOKEN_BUCKET = Json.field("limiter", "token_bucket");
    private static final byte[] CLASSIC = Json.field("limiter", "classic");
    private static final BacklogQuotaType[] TYPES = BacklogQuotaType.values();

    private final EventQueue queue;
    private final Topics topics;
    private final PoliciesAsSet asSet;

    Policies(EventQueue queue, Topics topics) {
        this.queue = queue;
        this.topics = topics;
        this.asSet = new PoliciesAsSet(queue);
    }

    /** A level of the log, or null: the log has none for replicators. */
    static String level(Object type) {
        return switch (type.toString()) {
            case "BROKER" -> "broker";
            case "TOPIC" -> "topic";
            case "SUBSCRIPTION" -> "subscription";
            default -> null;
        };
    }

    /** A limiter got a rate, maybe the one that it had: a token bucket is full again. */
    public void rate(DispatchRateLimiter limiter, Object type, PersistentTopic of, String topic, String sub, DispatchRate rate) {
        String level = level(type);
        if (level == null || rate == null) {
            return;
        }
        if (of != null && topics.of(of.getName()) != null) {
            // A dynamic value of the broker reaches a topic by no other way than its limiters.
            loaded(of);
        }
        Event event = Event.of(Fields.DISPATCH_RATE).with(Json.field("level", level));
        if (sub != null) {
            event.with(topics.fragment(topic, sub));
        } else if (topic != null) {
            event.with(topics.fragment(topic));
        }
        withRate(event, limiter, rate);
        String source = source(of, sub, rate);
        queue.put(source == null ? event : event.with(PolicySources.FIELD.of(source)));
        if (of == null) {
            asSet.ofBroker(rate);
        }
    }

    /** Appends what a limiter is like. */
    static Event withRate(Event event, DispatchRateLimiter limiter, DispatchRate rate) {
        return event.number(Fields.MSG_RATE, rate.getDispatchThrottlingRateInMsg())
                .number(Fields.BYTE_RATE, rate.getDispatchThrottlingRateInByte())
                .number(Fields.PERIOD_S, rate.getRatePeriodInSecond()).flag(Fields.RELATIVE, rate.isRelativeToPublishRate())
                .with(limiter.getClass().getSimpleName().contains("Classic") ? CLASSIC : TOKEN_BUCKET);
    }

    private String source(PersistentTopic topic, String sub, DispatchRate rate) {
        if (topic == null) {
            return asSet.sourceOfBrokerRate(rate);
        }
        boolean isSet = rate.getDispatchThrottlingRateInMsg() > 0 || rate.getDispatchThrottlingRateInByte() > 0;
        return isSet ? asSet.sourceOfRate(topic, sub) : null;
    }

    /** A limiter that was there before the collector. */
    void rate(DispatchRateLimiter limiter, DispatchRate rate) {
        LimiterFields fields = LimiterFields.of(limiter);
        rate(limiter, fields.type(), fields.of(), fields.topic(), fields.sub(), rate);
    }

    /** What a topic has of the broker from its making on. Policies of its namespace and its own are set into it later. */
    void loaded(PersistentTopic topic) {
        asSet.ofBroker(topic.getHierarchyTopicPolicies());
    }

    /** A topic that was there before the collector has all of its policies. */
    void met(PersistentTopic topic) {
        namespaceSet(topic);
        topicSet(topic);
    }

    /** Policies of its namespace were set into a topic. Those of the broker may have changed meanwhile. */
    public void namespaceSet(PersistentTopic topic) {
        if (topics.of(topic.getName()) != null) {
            HierarchyTopicPolicies policies = topic.getHierarchyTopicPolicies();
            asSet.ofBroker(policies);
            asSet.ofNamespace(policies, topic.getName(), topics.names());
            quotas(topic);
        }
    }

    /** Policies of its own were set into a topic. */
    public void topicSet(PersistentTopic topic) {
        LoadedTopic loaded = topics.of(topic.getName());
        if (loaded != null) {
            asSet.ofTopic(topic.getHierarchyTopicPolicies(), PolicySources.overrides(topic), loaded);
            quotas(topic);
        }
    }

    /** The average publish rate of a topic was computed anew. Only a relative rate follows it. */
    public void averagePublished(PersistentTopic topic) {
        LoadedTopic loaded = topics.of(topic.getName());
        if (loaded == null || !isRelative(topic)) {
            return;
        }
        long msgs = (long) topic.getLastUpdatedAvgPublishRateInMsg();
        long bytes = (long) topic.getLastUpdatedAvgPublishRateInByte();
        if (loaded.isNewAverage(msgs, bytes)) {
            queue.put(Event.of(Fields.PUBLISH_RATE).with(loaded.fragment).number(Fields.AVG_MSGS, msgs).number(Fields.AVG_BYTES, bytes));
        }
    }

    private static boolean isRelative(PersistentTopic topic) {
        DispatchRate ofSubs = topic.getHierarchyTopicPolicies().getSubscriptionDispatchRate().get();
        return topic.getDispatchRate().isRelativeToPublishRate() || ofSubs != null && ofSubs.isRelativeToPublishRate()
                || PolicySources.overrides(topic).values().stream()
                        .anyMatch(each -> each.getDispatchRate() != null && each.getDispatchRate().isRelativeToPublishRate());
    }

    /** The quotas of a topic may have changed. */
    private void quotas(PersistentTopic topic) {
        LoadedTopic loaded = topics.of(topic.getName());
        if (loaded == null) {
            return;
        }
        for (BacklogQuotaType type : TYPES) {
            BacklogQuota quota = topic.getBacklogQuota(type);
            if (quota != null && quota.getPolicy() != null) {
                String source = asSet.sourceOfQuota(topic, type);
                byte[] values = payload(type, quota);
                byte[] payload = source == null ? values : Json.joined(values, PolicySources.FIELD.of(source));
                if (loaded.isNewQuota(type.ordinal(), payload)) {
                    queue.put(Event.of(Fields.BACKLOG_QUOTA).with(loaded.fragment).with(payload));
                }
            }
        }
    }

    /** The broker acts on a quota. */
    public void exceeded(PersistentTopic topic, BacklogQuotaType type) {
        BacklogQuota quota = topic.getBacklogQuota(type);
        queue.put(Event.of(Fields.QUOTA_EXCEEDED).with(topics.fragment(topic.getName()))
                .with(payload(type, quota)));
    }

    private static byte[] payload(BacklogQuotaType type, BacklogQuota quota) {
        byte[] limit = (",\"limit\":" + limit(type, quota)).getBytes(StandardCharsets.US_ASCII);
        return Json.joined(Json.joined(Json.field("quota_type", type.name()), limit), Json.field("policy", quota.getPolicy().name()));
    }

    private static long limit(BacklogQuotaType type, BacklogQuota quota) {
        return type == BacklogQuotaType.destination_storage ? quota.getLimitSize() : quota.getLimitTime();
    }
}
