import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import org.apache.pulsar.client.admin.ListTopicsOptions;
import org.apache.pulsar.client.admin.PulsarAdmin;
import org.apache.pulsar.client.admin.PulsarAdminException;
import org.apache.pulsar.common.partition.PartitionedTopicMetadata;
import org.apache.pulsar.common.policies.data.PartitionedTopicStats;
import org.apache.pulsar.common.policies.data.SubscriptionStats;
import org.apache.pulsar.common.policies.data.TopicStats;
import org.apache.pulsar.common.policies.data.stats.PartitionedTopicStatsImpl;
import org.apache.pulsar.common.util.ObjectMapperFactory;

/** Asks Pulsar's own admin client all that it can ask of `serve`, and prints one JSON object: question, its answer. */
public class AdminAnswers {
    private static final Map<String, Object> ANSWERS = new LinkedHashMap<>();

    /** Arguments: the URL, a namespace with topics `payments` and `orders`, a topic of it without a rate, and one with partitions. */
    public static void main(String[] arguments) throws Exception {
        String namespace = arguments[1];
        String topic = arguments[2];
        String partitioned = arguments[3];
        try (PulsarAdmin admin = PulsarAdmin.builder().serviceHttpUrl(arguments[0]).build()) {
            ask("stats", () -> topicFields(admin.topics().getStats(topic)));
            ask("stats with all options", () -> topicFields(admin.topics().getStats(topic, true, true, true)));
            ask("subscriptions", () -> admin.topics().getSubscriptions(topic));
            ask("list", () -> admin.topics().getList(namespace));
            ask("list with system topics", () -> admin.topics().getList(namespace, null,
                    ListTopicsOptions.builder().includeSystemTopic(true).build()));
            ask("partitioned topics", () -> admin.topics().getPartitionedTopicList(namespace));
            ask("topics of the namespace", () -> admin.namespaces().getTopics(namespace));
            ask("namespaces", () -> admin.namespaces().getNamespaces(namespace.split("/")[0]));
            ask("tenants", () -> admin.tenants().getTenants());
            ask("clusters", () -> admin.clusters().getClusters());
            ask("quotas", () -> admin.topics().getBacklogQuotaMap(topic, true));
            ask("no rate", () -> String.valueOf(admin.topicPolicies().getSubscriptionDispatchRate(topic, true)));
            ask("no topic rate", () -> String.valueOf(admin.topicPolicies().getDispatchRate(topic, true)));
            ask("rate", () -> admin.topicPolicies().getSubscriptionDispatchRate("persistent://" + namespace + "/payments", true));
            ask("topic rate", () -> admin.topicPolicies().getDispatchRate("persistent://" + namespace + "/orders", true));
            ask("health", () -> {
                admin.brokers().healthcheck();
                return "ok";
            });
            ask("version", () -> admin.brokers().getVersion());
            ask("no such topic", () -> admin.topics().getStats(topic + "-none"));
            ask("no such namespace", () -> admin.topics().getList(namespace + "-none"));
            ask("internal stats", () -> admin.topics().getInternalStats(topic));
            askAboutPartitions(admin, partitioned);
        }
        System.out.println(ObjectMapperFactory.getMapper().writer().writeValueAsString(ANSWERS));
    }

    /** An exception is an answer, too: its class and its status. */
    private static void ask(String question, Callable<Object> answer) throws Exception {
        try {
            ANSWERS.put(question, answer.call());
        } catch (PulsarAdminException fault) {
            ANSWERS.put(question, fault.getClass().getSimpleName() + " " + fault.getStatusCode() + " " + fault.getHttpError());
        }
    }

    /** The statistics of a partitioned topic, and beside them those that Pulsar's class makes of the partitions' own. */
    private static void askAboutPartitions(PulsarAdmin admin, String topic) throws Exception {
        PartitionedTopicStats answered = admin.topics().getPartitionedStats(topic, true);
        ask("partitioned stats", () -> topicFields(answered));
        PartitionedTopicStatsImpl added = new PartitionedTopicStatsImpl(new PartitionedTopicMetadata(answered.getPartitions().size()));
        List<String> partitions = new ArrayList<>(answered.getPartitions().keySet());
        for (String partition : partitions.stream().sorted().toList()) {
            added.add(answered.getPartitions().get(partition));
        }
        ask("partitions", () -> partitions);
        ask("partitions, added by Pulsar", () -> topicFields(added));
    }

    private static Map<String, Object> topicFields(TopicStats stats) throws Exception {
        Map<String, Object> fields = getters(TopicStats.class, stats);
        Map<String, Object> subscriptions = new TreeMap<>();
        for (Map.Entry<String, ? extends SubscriptionStats> one : stats.getSubscriptions().entrySet()) {
            subscriptions.put(one.getKey(), getters(SubscriptionStats.class, one.getValue()));
        }
        fields.put("subscriptions", subscriptions);
        fields.put("publishers", stats.getPublishers().size());
        return fields;
    }

    /** The name of each getter of numbers, texts and flags, and what it gives. */
    private static Map<String, Object> getters(Class<?> type, Object stats) throws Exception {
        Map<String, Object> found = new TreeMap<>();
        for (Method method : type.getMethods()) {
            Class<?> returned = method.getReturnType();
            boolean isGetter = method.getName().matches("(get|is)[A-Z].*") && method.getParameterCount() == 0;
            if (isGetter && (returned.isPrimitive() || returned == String.class)) {
                found.put(method.getName(), method.invoke(stats));
            }
        }
        return found;
    }
}
