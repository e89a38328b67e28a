// Asks Go's admin client and KEDA's structs what `serve` answers, and prints one JSON object.
package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"

	"github.com/apache/pulsar-client-go/pulsaradmin"
	"github.com/apache/pulsar-client-go/pulsaradmin/pkg/utils"
)

// answers has each question with its answer; a fault is an answer, too.
var answers = map[string]any{}

func ask[T any](question string, answer T, fault error) {
	if fault != nil {
		answers[question] = fault.Error()
	} else {
		answers[question] = answer
	}
}

// read decodes into KEDA's own struct, as its scaler does.
func read(url string) (pulsarStats, error) {
	var stats pulsarStats
	response, fault := http.Get(url)
	if fault != nil {
		return stats, fault
	}
	defer response.Body.Close()
	return stats, json.NewDecoder(response.Body).Decode(&stats)
}

// Arguments: the URL, a tenant, its namespace, a topic of it and one with partitions by their local names.
func main() {
	url, tenant, local, topic, partitioned := os.Args[1], os.Args[2], os.Args[3], os.Args[4], os.Args[5]
	admin, fault := pulsaradmin.NewClient(&pulsaradmin.Config{WebServiceURL: url})
	if fault != nil {
		panic(fault)
	}
	namespace, _ := utils.GetNameSpaceName(tenant, local)
	name, _ := utils.GetTopicName(fmt.Sprintf("persistent://%s/%s/%s", tenant, local, topic))
	parts, _ := utils.GetTopicName(fmt.Sprintf("persistent://%s/%s/%s", tenant, local, partitioned))
	absent, _ := utils.GetTopicName(fmt.Sprintf("persistent://%s/%s/none", tenant, local))

	stats, fault := admin.Topics().GetStats(*name)
	ask("stats", stats, fault)
	partitionedStats, fault := admin.Topics().GetPartitionedStats(*parts, true)
	ask("partitioned stats", partitionedStats, fault)
	_, fault = admin.Topics().GetStats(*absent)
	ask("no such topic", "", fault)
	subscriptions, fault := admin.Subscriptions().List(*name)
	ask("subscriptions", subscriptions, fault)
	withPartitions, without, fault := admin.Topics().List(*namespace)
	ask("partitioned topics", withPartitions, fault)
	ask("list", without, fault)
	tenants, fault := admin.Tenants().List()
	ask("tenants", tenants, fault)
	namespaces, fault := admin.Namespaces().GetNamespaces(tenant)
	ask("namespaces", namespaces, fault)
	clusters, fault := admin.Clusters().List()
	ask("clusters", clusters, fault)

	path := fmt.Sprintf("%s/admin/v2/persistent/%s/%s/", url, tenant, local)
	keda, fault := read(path + topic + "/stats")
	ask("keda", keda.Subscriptions, fault)
	keda, fault = read(path + partitioned + "/partitioned-stats")
	ask("keda, partitioned", keda.Subscriptions, fault)
	_ = json.NewEncoder(os.Stdout).Encode(answers)
}
