"""The text of `/metrics`: numbers, labels, blocks, and what is not known."""

from typing import Any

import pytest

from generators import metrics_page as page
from pipeline.serving.metrics.families import (
    CHECK_DURATIONS,
    CONNECTIONS,
    EVICTIONS,
    NAMESPACES,
    OF_NAMESPACES,
    OF_TOPICS,
    SUBSCRIPTIONS,
    TOPICS,
)
from pipeline.serving.metrics.family import Source, double_number, long_number
from pipeline.serving.metrics.left_out import LEFT_OUT, reason
from pipeline.serving.metrics.text import label, metrics_text

TOPIC = {
    "cluster": "c", "namespace": "t/n", "topic": "persistent://t/n/x", "subscriptions": 1, "producers": 0, "msg_backlog": 7,
    "backlog_size": 70, "limit_size": -1, "limit_s": -1, "age_s": -1, "evictions_size": 2, "evictions_time": 0,
}  # fmt: skip


class Rows:
    """A look that has these rows of sources, and none of others."""

    def __init__(self, rows: dict[Source, list[dict[str, Any]]]) -> None:
        self._rows = {source.sql: found for source, found in rows.items()}
        self.asked: list[str] = []

    def rows(self, sql: str) -> list[dict[str, Any]]:
        self.asked.append(sql)
        return self._rows.get(sql, [])


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0.0"), (48, "48.0"), (9_999_999, "9999999.0"), (10_000_000, "1.0E7"), (12_345_678, "1.2345678E7"), (120_000_000, "1.2E8"),
        (-10_000_000, "-1.0E7"), (-3, "-3.0"),
    ],
)  # fmt: skip
def test_a_double_is_written_as_java_writes_it(value: int, text: str) -> None:
    assert double_number(value) == text


def test_a_long_has_all_its_digits() -> None:
    assert long_number(10_737_418_240) == "10737418240"


@pytest.mark.parametrize(("value", "escaped"), [('a"b', r"a\"b"), ("a\\b", r"a\\b"), ("a\nb", r"a\nb"), ("{,}= é", "{,}= é")])
def test_a_label_is_escaped_as_the_format_demands(value: str, escaped: str) -> None:
    assert label("topic", value) == f'topic="{escaped}"'


def test_what_is_not_known_has_no_line_and_no_type() -> None:
    text = metrics_text(
        Rows({TOPICS: [TOPIC | {"age_s": None, "backlog_size": None}, TOPIC | {"topic": "persistent://t/n/y", "age_s": None}]})
    )
    assert "pulsar_storage_backlog_age_seconds" not in text
    assert [line for line in text.splitlines() if "pulsar_storage_backlog_size" in line] == [
        "# TYPE pulsar_storage_backlog_size gauge",
        'pulsar_storage_backlog_size{cluster="c",namespace="t/n",topic="persistent://t/n/y"} 70',
    ]


def test_a_cluster_that_is_not_known_has_no_label() -> None:
    text = metrics_text(Rows({TOPICS: [TOPIC | {"cluster": None}], EVICTIONS: [{"cluster": None, "size": 3, "time": 0}]}))
    assert 'pulsar_msg_backlog{namespace="t/n",topic="persistent://t/n/x"} 7\n' in text
    assert 'pulsar_broker_storage_backlog_quota_exceeded_evictions_total{quota_type="size"} 3\n' in text


def test_series_of_one_row_stand_together() -> None:
    rows = [TOPIC, TOPIC | {"topic": "persistent://t/n/y"}]
    lines = [line for line in metrics_text(Rows({TOPICS: rows})).splitlines() if "quota_type" in line]
    assert [line.partition("/n/")[2] for line in lines] == [
        'x",quota_type="size"} 2', 'x",quota_type="time"} 0', 'y",quota_type="size"} 2', 'y",quota_type="time"} 0',
    ]  # fmt: skip


def test_nothing_known_is_an_empty_text() -> None:
    assert metrics_text(Rows({})) == metrics_text(Rows({}), topics=False) == ""


@pytest.mark.parametrize("topics", [True, False])
def test_each_source_is_asked_once(topics: bool) -> None:
    look = Rows({})
    metrics_text(look, topics=topics)
    own = [TOPICS, SUBSCRIPTIONS] if topics else [NAMESPACES]
    assert sorted(look.asked) == sorted(source.sql for source in (*own, CHECK_DURATIONS, EVICTIONS, CONNECTIONS))


@pytest.mark.parametrize("families", [OF_TOPICS, OF_NAMESPACES])
def test_a_family_is_declared_once_and_not_left_out(families: tuple[Any, ...]) -> None:
    names = [family.name for family in families]
    assert len(set(names)) == len(names)
    assert [name for name in names if reason(name)] == []


@pytest.mark.parametrize(
    ("family", "has_reason"), [("pulsar_rate_in", True), ("pulsar_ml_AddEntryErrors", True), ("pulsar_rate", False), ("up", False)]
)
def test_a_family_is_left_out_by_its_name_or_the_beginning_of_it(family: str, has_reason: bool) -> None:
    assert (reason(family) is not None) == has_reason
    assert all(why for why in LEFT_OUT.values())


def test_the_page_of_metrics_is_what_the_declarations_have() -> None:
    assert page.DOCUMENT.read_text(encoding="utf-8") == page.render(), "run: python -m generators"
