"""Backlog quotas: by size and by age, precise and not, with evictions and with producers cut off."""

from scenarios.table import scenario
from tools.live_broker.load import Publishing
from tools.live_broker.stage import Stage

EVICT = "consumer_backlog_eviction"


@scenario(
    "A size quota of 60 KB with eviction; messages of 1 KB, 25/s. `idle` never reads, `slow` acknowledges 8/s, `holes` leaves every third."
    " A second topic with entries larger than a tenth of its quota.",
    timeline=True,
    preciseTimeBasedBacklogQuotaCheck="false",
)
def size_quota(stage: Stage) -> None:
    topic, large = stage.topic("t", "idle", "slow", "holes"), stage.topic("large", "s")
    stage.admin.size_quota(topic, 60_000, EVICT)
    stage.admin.size_quota(large, 60_000, EVICT)
    with (
        stage.held_back("no_consumer", "nobody reads", (topic, "idle"), (large, "s")),
        stage.held_back("slow_consumer", "8/s of 25/s", (topic, "slow")),
        stage.held_back("not_acknowledged", "every third stays", (topic, "holes")),
    ):
        stage.meanwhile(stage.publish, topic, 450, 25, size=1000)
        stage.meanwhile(stage.publish, large, 36, 2, size=20_000)
        stage.meanwhile(stage.consume, topic, "slow", for_s=18, pause_ms=120, queue=10)
        stage.meanwhile(stage.consume, topic, "holes", for_s=18, acknowledges=lambda number: number % 3 > 0)
        stage.join()


@scenario(
    "A size quota of 40 KB with eviction while 300 messages/s of 200 bytes arrive: one eviction takes several steps, and entries arrive"
    " between them.",
    timeline=True,
    managedLedgerMaxEntriesPerLedger="200",
    preciseTimeBasedBacklogQuotaCheck="false",
)
def size_quota_while_entries_arrive(stage: Stage) -> None:
    topic = stage.topic("t", "idle", "idle-too", "slow")
    stage.admin.size_quota(topic, 40_000, EVICT)
    with stage.held_back("no_consumer", "nobody reads", (topic, "idle"), (topic, "idle-too")):
        stage.meanwhile(stage.publish, topic, 5400, 300, size=200)
        stage.meanwhile(stage.consume, topic, "slow", for_s=18, pause_ms=20, queue=10)
        stage.join()


@scenario(
    "An age quota of 6 s with eviction, precise check: `idle` never reads, `slow` acknowledges 5/s of 12/s. Topic `second` has a limit of"
    " 1 s, `fresh` one of 30 s that it never reaches.",
    timeline=True,
)
def age_quota_precise(stage: Stage) -> None:
    _age_quotas(stage)


@scenario("The same with the check by ledgers: only closed ledgers have an age.", timeline=True, preciseTimeBasedBacklogQuotaCheck="false")
def age_quota_by_ledger(stage: Stage) -> None:
    _age_quotas(stage)


@scenario("The same, precise, and the broker has no cache: the check reads the oldest message from storage.", timeline=True,
          managedLedgerCacheSizeMB="0")  # fmt: skip
def age_quota_from_storage(stage: Stage) -> None:
    _age_quotas(stage)


def _age_quotas(stage: Stage) -> None:
    topic, second, fresh = stage.topic("t", "idle", "slow"), stage.topic("second", "s"), stage.topic("fresh", "s")
    for one, limit_s in ((topic, 6), (second, 1), (fresh, 30)):
        stage.admin.age_quota(one, limit_s, EVICT)
    with (
        stage.held_back("no_consumer", "nobody reads", (topic, "idle"), (second, "s")),
        stage.held_back("slow_consumer", "5/s of 12/s", (topic, "slow")),
        stage.held_back("nothing", "a fast consumer", (fresh, "s")),
    ):
        for one, per_s in ((topic, 12), (second, 10), (fresh, 10)):
            stage.meanwhile(stage.publish, one, 20 * per_s, per_s)
        stage.meanwhile(stage.consume, topic, "slow", for_s=20, pause_ms=200, queue=5)
        stage.meanwhile(stage.consume, fresh, "s", for_s=20)
        stage.join()


@scenario(
    "Quotas which act on producers: `hold` 40 KB producer_request_hold, `exception` 40 KB producer_exception, `age` 5 s producer_exception."
    " The producers go on trying; after 14 s consumers drain all three.",
    timeline=True,
)
def producers_cut_off(stage: Stage) -> None:
    hold, exception, age = (stage.topic(name, "s") for name in ("hold", "exception", "age"))
    stage.admin.size_quota(hold, 40_000, "producer_request_hold")
    stage.admin.size_quota(exception, 40_000, "producer_exception")
    stage.admin.age_quota(age, 5, "producer_exception")
    topics = (hold, exception, age)
    with stage.held_back("no_consumer", "nobody reads; then nothing new arrives", *((topic, "s") for topic in topics)):
        work = [stage.meanwhile(stage.clients.publish_stubbornly, topic, Publishing(600, 20, size=1000), for_s=14) for topic in topics]
        for one in work:
            one.result()
    for topic in topics:
        stage.meanwhile(stage.consume, topic, "s", idle_s=2)
        stage.meanwhile(stage.clients.publish_stubbornly, topic, Publishing(50, 20, size=1000), for_s=8)
    stage.join()
