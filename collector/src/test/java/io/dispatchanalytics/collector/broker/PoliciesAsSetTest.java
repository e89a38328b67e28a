package io.dispatchanalytics.collector.broker;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.dispatchanalytics.collector.log.Event;
import io.dispatchanalytics.collector.log.EventQueue;
import io.dispatchanalytics.collector.names.Names;
import io.dispatchanalytics.collector.options.BadOption;
import io.dispatchanalytics.collector.options.Options;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.pulsar.common.policies.data.BacklogQuota.BacklogQuotaType;
import org.apache.pulsar.common.policies.data.BacklogQuota.RetentionPolicy;
import org.apache.pulsar.common.policies.data.HierarchyTopicPolicies;
import org.apache.pulsar.common.policies.data.SubscriptionPolicies;
import org.apache.pulsar.common.policies.data.impl.BacklogQuotaImpl;
import org.apache.pulsar.common.policies.data.impl.DispatchRateImpl;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What is set where is written when a topic meets it first, and when it changes; never because a topic is loaded. */
class PoliciesAsSetTest {
    private static final String ONE = "persistent://shop/eu/one";
    private static final String TWO = "persistent://shop/eu/two";
    private static final String RATE = "\"policy_set\",\"source\":\"%s\",\"policy_kind\":\"%s_dispatch_rate\"%s";
    private static final String OF_10 = ",\"msg_rate\":10,\"byte_rate\":-1,\"period_s\":1,\"relative\":false";
    private static final String IN_EU = ",\"namespace\":\"shop/eu\"";

    private final EventQueue queue = new EventQueue(10_000);
    private final PoliciesAsSet asSet = new PoliciesAsSet(queue);
    private Names names;

    @BeforeEach
    void begin() throws BadOption {
        names = Names.of(Options.parse("dir=/x"));
        queue.begin(Event.of(Event.type("broker_start")));
        written();
    }

    private List<String> written() {
        List<String> payloads = new ArrayList<>();
        queue.drain((seq, tsUs, ns, payload, from, length) -> payloads.add(new String(payload, from, length, StandardCharsets.UTF_8)));
        return payloads;
    }

    private static DispatchRateImpl rate(int msgs) {
        return new DispatchRateImpl(msgs, -1, false, 1);
    }

    private static HierarchyTopicPolicies ofNamespace(DispatchRateImpl rate) {
        HierarchyTopicPolicies policies = new HierarchyTopicPolicies();
        policies.getDispatchRate().updateNamespaceValue(rate);
        return policies;
    }

    private LoadedTopic loaded(String topic) {
        return new LoadedTopic(topic, topic, null, new Object(), names);
    }

    @Test
    void aLoadWritesNothingOfANamespaceThatIsKnown() {
        asSet.ofNamespace(ofNamespace(rate(10)), ONE, names);
        assertEquals(List.of(RATE.formatted("namespace", "topic", IN_EU) + OF_10), written());
        asSet.ofBroker(new HierarchyTopicPolicies());
        asSet.ofNamespace(ofNamespace(rate(10)), TWO, names);
        assertEquals(List.of(), written());
    }

    @Test
    void aNamespaceThatHasARateNoMoreIsWrittenWithoutValues() {
        asSet.ofNamespace(ofNamespace(rate(10)), ONE, names);
        written();
        asSet.ofNamespace(ofNamespace(null), ONE, names);
        assertEquals(List.of(RATE.formatted("namespace", "topic", IN_EU)), written());
    }

    @Test
    void aLoadWritesWhatTheBrokerHas() {
        HierarchyTopicPolicies policies = new HierarchyTopicPolicies();
        policies.getDispatchRate().updateBrokerValue(rate(10));
        policies.getBackLogQuotaMap().get(BacklogQuotaType.message_age)
                .updateBrokerValue(new BacklogQuotaImpl(-1, 60, RetentionPolicy.producer_exception));
        asSet.ofBroker(policies);
        asSet.ofBroker(policies);
        assertEquals(List.of(RATE.formatted("broker_config", "topic", "") + OF_10,
                "\"policy_set\",\"source\":\"broker_config\",\"policy_kind\":\"backlog_quota\",\"quota_type\":\"message_age\",\"limit\":60,"
                + "\"policy\":\"producer_exception\""), written());
    }

    @Test
    void aValueOfTheBrokerThatChangesIsDynamic() {
        HierarchyTopicPolicies policies = new HierarchyTopicPolicies();
        policies.getDispatchRate().updateBrokerValue(rate(5));
        asSet.ofBroker(policies);
        written();
        policies.getDispatchRate().updateBrokerValue(rate(10));
        asSet.ofBroker(policies);
        assertEquals(List.of(RATE.formatted("dynamic_config", "topic", "") + OF_10), written());
    }

    @Test
    void aTopicAndItsSubscriptionsAreWrittenForEachLoad() {
        HierarchyTopicPolicies policies = new HierarchyTopicPolicies();
        policies.getDispatchRate().updateTopicValue(rate(10));
        Map<String, SubscriptionPolicies> overrides = Map.of("s", new SubscriptionPolicies(rate(10)));
        String topic = ",\"topic\":\"" + ONE + "\"";
        List<String> both = List.of(RATE.formatted("topic", "topic", topic) + OF_10,
                RATE.formatted("subscription", "subscription", topic + ",\"sub\":\"s\"") + OF_10);
        LoadedTopic first = loaded(ONE);
        asSet.ofTopic(policies, overrides, first);
        asSet.ofTopic(policies, overrides, first);
        assertEquals(both, written());
        asSet.ofTopic(policies, overrides, loaded(ONE));
        assertEquals(both, written());
    }

    @Test
    void anOverrideThatIsGoneIsWrittenWithoutValues() {
        LoadedTopic topic = loaded(ONE);
        asSet.ofTopic(new HierarchyTopicPolicies(), Map.of("s", new SubscriptionPolicies(rate(10))), topic);
        written();
        asSet.ofTopic(new HierarchyTopicPolicies(), Map.of(), topic);
        assertEquals(List.of(RATE.formatted("subscription", "subscription", ",\"topic\":\"" + ONE + "\",\"sub\":\"s\"")), written());
    }
}
