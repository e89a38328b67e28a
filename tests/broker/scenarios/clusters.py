"""Two clusters, each with a broker of its own: only the first one has the collector."""

import time

from scenarios.table import scenario
from tools.live_broker.stage import Stage

FAR = "far"
CURSOR = f"pulsar.repl.{FAR}"
#: Messages that the other cluster gets, and those that come when it is gone.
SENT, LEFT = 200, 150


@scenario(
    "A replicator follows: 200 messages go to the broker of another cluster. That broker is killed: the connection is lost, no new one"
    " succeeds, and 150 further messages wait for the replicator alone.",
    timeline=True,
)
def replicator_loses_its_cluster(stage: Stage) -> None:
    far = stage.other_cluster(FAR)
    stage.admin.replicate(stage.namespace, FAR)
    topic = stage.topic("t", "s")
    stage.meanwhile(stage.consume, topic, "s", count=SENT + LEFT)
    stage.publish(topic, SENT, 50)
    stage.await_replicated(topic, FAR)
    far.kill()
    with stage.held_back("not_connected", "the broker of the other cluster is dead", (topic, CURSOR)):
        stage.publish(topic, LEFT, 30)
        time.sleep(2)
    stage.join()
