"""`/metrics` beside real brokers': every line that we have is the broker's, byte for byte, and what we have not has a reason."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby

import pytest
from broker_scrapes import (
    ALWAYS,
    EVERY_SCRAPE,
    LARGE,
    SHARED,
    Scrape,
    family_of,
    is_of_system_topic,
    labels_of,
    loaded_until_scraped,
    series_of,
)

from pipeline.diagnosis.probe.answer import probe
from pipeline.lanes.timing import lane_timing
from pipeline.query.room import ReadingRoom
from pipeline.serving.answers import KEPT_VIEWS
from pipeline.serving.metrics.families import OF_NAMESPACES, OF_TOPICS
from pipeline.serving.metrics.left_out import LEFT_OUT, reason
from pipeline.serving.metrics.text import metrics_text
from pipeline.settings import load_settings

HISTOGRAMS = frozenset(family.name for family in OF_TOPICS if family.type == "histogram")
SERVED = frozenset(family.name for family in OF_TOPICS)
AGE, SIZE, NO_DELAYED = "pulsar_storage_backlog_age_seconds", "pulsar_storage_backlog_size", "pulsar_subscription_back_log_no_delayed"
CREATED = "pulsar_storage_backlog_quota_check_duration_seconds_created"
#: (capture, topic) → bytes at the newest check; the last acknowledgements came after it.
ACKNOWLEDGED_SINCE = {
    ("a_sub_msg_limit", "persistent://real/a/limited"): 28320,
    ("c_broker_limit", "persistent://real/c/one"): 271408,
}
#: Evicted by age at the newest check, two entries further than by the rule: the bytes that are left are not known.
EVICTED_FURTHER = {("y_incident", "persistent://real/y/clicks")}
#: Columns of a namespace's sums, as the broker names them for a topic → what follows the namespace's labels.
SUMMED = {
    "pulsar_producers_count": "",
    "pulsar_storage_backlog_quota_exceeded_evictions_total": "",
    "pulsar_msg_backlog": ',remote_cluster="local"',
    "pulsar_subscriptions_count": "",
    SIZE: "",
}


@dataclass(frozen=True)
class Answered:
    """A broker's lines of the families that we serve, and ours."""

    scrape: Scrape
    room: ReadingRoom
    theirs: list[str]
    text: str
    by_namespace: str

    @property
    def ours(self) -> list[str]:
        return plain_lines(self.text)


def plain_lines(text: str) -> list[str]:
    return [line for line in text.splitlines() if line[0] != "#"]


def of(line: str) -> str:
    return family_of(line, HISTOGRAMS)


@pytest.fixture(scope="module", params=EVERY_SCRAPE)
def answered(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Answered]:
    """The capture's log until its figures were taken, loaded."""
    scrape: Scrape = request.param
    room = ReadingRoom(loaded_until_scraped(scrape, tmp_path_factory), kept=KEPT_VIEWS)
    theirs = [line for line in scrape.lines if of(line) in SERVED]
    return Answered(scrape, room, theirs, metrics_text(room), metrics_text(room, topics=False))


def test_every_line_is_the_brokers_but_for_ages_and_for_bytes_that_moved_since_the_newest_check(answered: Answered) -> None:
    """Ages grow with the clock, and have a test of their own."""
    theirs = set(answered.theirs)
    assert len(theirs.intersection(answered.ours)) > 20
    other = [line for line in answered.ours if line not in theirs and of(line) != AGE]
    assert all(of(line) == SIZE for line in other)
    moved = {(answered.scrape.name, labels_of(line)["topic"]): int(line.rpartition(" ")[2]) for line in other}
    assert moved == {key: size for key, size in ACKNOWLEDGED_SINCE.items() if key[0] == answered.scrape.name}


def test_no_series_is_ours_alone_or_twice(answered: Answered) -> None:
    series = [series_of(line) for line in answered.ours]
    assert len(set(series)) == len(series)
    assert set(series) <= {series_of(line) for line in answered.theirs}


def test_an_age_counts_on_from_what_the_broker_counts_from(answered: Answered) -> None:
    """Ours is of the newest event, the broker's of its scrape: a moment between `as_of_us` and `as_of_end_us`."""
    theirs = {labels_of(line)["topic"]: int(line.rpartition(" ")[2]) for line in answered.theirs if of(line) == AGE}
    ours = {labels_of(line)["topic"]: int(line.rpartition(" ")[2]) for line in answered.ours if of(line) == AGE}
    assert ours
    newest_us = answered.room.newest_event_times(None)[0]
    assert newest_us is not None
    manifest, since = answered.scrape.manifest, counted_from(answered.room)
    for topic, age in ours.items():
        if since[topic] is None:
            assert age == theirs[topic] == -1
        else:
            assert age == age_s(newest_us, since[topic])
            assert age_s(manifest["as_of_us"], since[topic]) <= theirs[topic] <= age_s(manifest["as_of_end_us"], since[topic])


def counted_from(room: ReadingRoom) -> dict[str, datetime | None]:
    """Topic → the time that its age counts from, at its newest check."""
    rows = room.rows("SELECT topic, oldest_believed_time AS since FROM topic_backlog ORDER BY epoch, check_number")
    return {row["topic"]: row["since"] for row in rows}


def age_s(at_us: int, since: datetime | None) -> int:
    assert since is not None
    return (at_us // 1000 - round(since.timestamp() * 1000)) // 1000


def test_what_has_no_line_has_its_reason(answered: Answered) -> None:
    have = {series_of(line) for line in answered.ours}
    lacking = [line for line in answered.theirs if series_of(line) not in have]
    assert [line for line in lacking if why_none(answered, line) is None] == []


def why_none(answered: Answered, line: str) -> str | None:
    """Each is in LINES_LEFT_OUT."""
    labels = labels_of(line)
    if is_of_system_topic(labels):
        return "system topic"
    if line.startswith(CREATED):
        return "created"
    if of(line) == SIZE and (answered.scrape.name, labels["topic"]) in EVICTED_FURTHER:
        return "evicted further"
    if of(line) == NO_DELAYED and not line.endswith(" 0"):
        where = f"topic = '{labels['topic']}' AND subscription = '{labels['subscription']}'"
        types = {row["sub_type"] for row in answered.room.rows(f"SELECT sub_type FROM subscription_throttle_now WHERE {where}")}
        return "held for later" if types <= {"Shared", "Key_Shared"} and types else None
    return None


def test_families_stand_in_the_brokers_order_under_its_types(answered: Answered) -> None:
    types = [tuple(line.split()[2:]) for line in answered.text.splitlines() if line[0] == "#"]
    blocks = [family for family, _ in groupby(answered.ours, of)]
    assert [name for name, _ in types] == blocks
    assert dict(types) == {family.name: family.type for family in OF_TOPICS if family.name in blocks}
    brokers = [family for family, _ in groupby(answered.theirs, of)]
    assert blocks == [family for family in brokers if family in blocks]


def test_the_series_of_a_topic_and_of_a_subscription_stand_together_in_the_brokers_order(answered: Answered) -> None:
    """The order of topics and subscriptions is that of the broker's hash maps: nobody can rely on it, ours are sorted."""
    have = {series_of(line) for line in answered.ours}
    ours, theirs = (in_groups([line for line in lines if series_of(line) in have]) for lines in (answered.ours, answered.theirs))
    assert ours == theirs


def in_groups(lines: list[str]) -> dict[tuple[str, str | None, str | None], list[str]]:
    """(family, topic, subscription) → its series, which stand together."""
    groups: dict[tuple[str, str | None, str | None], list[str]] = {}
    for key, of_group in groupby(lines, lambda line: (of(line), labels_of(line).get("topic"), labels_of(line).get("subscription"))):
        assert key not in groups
        groups[key] = [series_of(line) for line in of_group]
    return groups


def test_sums_of_namespaces_are_those_of_the_brokers_topics(answered: Answered) -> None:
    """Without system topics, of which the log has no life; and without age, limits and throttling, as the broker's."""
    name = answered.scrape.name
    sums: dict[str, int] = {}
    for line in answered.theirs:
        labels, family = labels_of(line), of(line)
        if family in SUMMED and not is_of_system_topic(labels):
            kind = f',quota_type="{labels["quota_type"]}"' if "quota_type" in labels else ""
            series = f'{family}{{cluster="{labels["cluster"]}",namespace="{labels["namespace"]}"{SUMMED[family]}{kind}}}'
            sums[series] = sums.get(series, 0) + int(line.rpartition(" ")[2])
    whole = {line for line in answered.theirs if of(line) not in SUMMED and "namespace" not in labels_of(line)}
    ours = plain_lines(answered.by_namespace)
    expected = {f"{series} {value}" for series, value in sums.items()} | {line for line in whole if not line.startswith(CREATED)}
    vague = {capture for capture, _ in ACKNOWLEDGED_SINCE.keys() | EVICTED_FURTHER}
    assert {line for line in ours if of(line) != SIZE} == {line for line in expected if of(line) != SIZE}
    assert name in vague or set(ours) == expected
    assert {of(line) for line in ours} <= {family.name for family in OF_NAMESPACES}


def test_a_probe_is_exact_where_bytes_are_of_the_newest_check(answered: Answered) -> None:
    """Not the tables: they have bytes at checks alone."""
    topics = [topic for capture, topic in {*ACKNOWLEDGED_SINCE, *EVICTED_FURTHER} if capture == answered.scrape.name]
    theirs = {labels_of(line)["topic"]: int(line.rpartition(" ")[2]) for line in answered.theirs if of(line) == SIZE}
    for topic in topics:
        at_us = answered.scrape.manifest["as_of_us"]
        _, found = probe(answered.room, at_us, lane_timing(load_settings(None, [], {})), broker=None, topic=topic)
        assert [row["backlog_size"] for row in found["topic_backlog"]] == [theirs[topic]]


@pytest.mark.parametrize("scrape", [*ALWAYS, *SHARED, *LARGE], ids=lambda one: one.name)
def test_every_family_of_a_broker_is_served_or_left_out_for_a_reason(scrape: Scrape) -> None:
    families = {of(line) for line in scrape.lines if line.startswith("pulsar_")} - {of(line) for line in open_telemetry_alone(scrape)}
    assert {family for family in families if (family in SERVED) == (reason(family) is not None)} == set()


def open_telemetry_alone(scrape: Scrape) -> list[str]:
    """Its figures repeat those of /metrics under other names."""
    return [line for line in scrape.lines if line.startswith("pulsar_broker_topic_")]


# The few captures in tests/ do not have all that is left out.
@pytest.mark.captures
@pytest.mark.skipif(not SHARED, reason="no captures beside the project")
def test_whatever_is_left_out_is_what_some_broker_prints() -> None:
    printed = {of(line) for scrape in (*ALWAYS, *SHARED) for line in scrape.lines}
    assert [name for name in LEFT_OUT if not any(family == name or family.startswith(name.rstrip("*")) for family in printed)] == []
