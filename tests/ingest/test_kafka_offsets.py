"""What of a topic is lost: decided over numbers, without Kafka. And addresses that cannot work."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.faults import BadConfig
from pipeline.sources.kafka_address import KafkaAddress, client_settings, kafka_address
from pipeline.sources.kafka_loss import TopicNow, loss_of

NOW = TopicNow("id", {0: 10, 1: 0}, {0: 20, 1: 5})


@pytest.mark.parametrize("read_to", [{}, {0: 10}, {0: 20, 1: 5}, {0: 15, 1: 0}])
def test_what_is_still_there_is_no_loss(read_to: dict[int, int]) -> None:
    assert loss_of("t", read_to, "id", NOW) is None
    assert loss_of("t", read_to, None, NOW) is None


@pytest.mark.parametrize(
    ("read_to", "known_id", "words", "goes_on"),
    [
        ({0: 7, 1: 3}, "id", "topic t: partition 0 lost the records 7 to 9: they expired", {0: 10, 1: 3}),
        ({0: 21}, "id", "topic t: partition 0 ends at 20, but was read to 21: its broker lost records", {0: 20}),
        ({0: 12, 2: 4}, "id", "topic t: partition 2 is gone", {0: 12}),
        ({1: 3}, "id", "topic t: partition 0 is new and lost the records 0 to 9: they expired", {0: 10, 1: 3}),
        ({0: 15}, "old", "topic t was deleted and made anew (its id was old, now id)", {0: 10, 1: 0}),
        ({}, "old", "topic t was deleted and made anew (its id was old, now id)", {0: 10, 1: 0}),
    ],
)
def test_losses(read_to: dict[int, int], known_id: str, words: str, goes_on: dict[int, int]) -> None:
    loss = loss_of("t", read_to, known_id, NOW)
    assert loss is not None
    assert (loss.words, loss.read_to) == (words, goes_on)


def test_a_new_partition_has_lost_its_first_record_and_no_more() -> None:
    loss = loss_of("t", {0: 3}, "id", TopicNow("id", {0: 0, 1: 1}, {0: 9, 1: 9}))
    assert loss is not None
    assert (loss.words, loss.read_to) == ("topic t: partition 1 is new and lost the records 0 to 0: they expired", {0: 3, 1: 1})


_OFFSETS = st.integers(0, 50)


@given(st.dictionaries(st.integers(0, 4), st.tuples(_OFFSETS, _OFFSETS)), st.dictionaries(st.integers(0, 4), _OFFSETS))
def test_whoever_goes_on_loses_no_more(there: dict[int, tuple[int, int]], read_to: dict[int, int]) -> None:
    now = TopicNow("id", {p: min(pair) for p, pair in there.items()}, {p: max(pair) for p, pair in there.items()})
    loss = loss_of("t", read_to, "id", now)
    if loss is not None:
        assert loss_of("t", loss.read_to, "id", now) is None


def test_an_address() -> None:
    assert kafka_address("kafka://a:9092,[::1]:9/my.topic") == KafkaAddress("a:9092,[::1]:9", "my.topic")


@pytest.mark.parametrize(
    ("events", "words"),
    [
        ("kafka://", "nothing is not HOST:PORT"),
        ("kafka://a/t", "a is not HOST:PORT"),
        ("kafka://a:0/t", "a:0 is not HOST:PORT"),
        ("kafka://a:99999/t", "a:99999 is not HOST:PORT"),
        ("kafka://a:1,/t", "nothing is not HOST:PORT"),
        ("kafka://a:1", "nothing is not a name of a topic"),
        ("kafka://a:1/t/u", "t/u is not a name of a topic"),
        ("kafka://a:1/..", ".. is not a name of a topic"),
    ],
)
def test_an_address_that_cannot_work_is_refused(events: str, words: str) -> None:
    with pytest.raises(BadConfig) as refused:
        kafka_address(events)
    assert str(refused.value).startswith(f"--events {events}: {words}")


def test_client_settings(tmp_path: Path) -> None:
    file = tmp_path / "client.properties"
    file.write_text("# ours\n\nsecurity.protocol = SSL\nsasl.jaas.config=a b=c;\n")
    assert client_settings(file) == {"security.protocol": "SSL", "sasl.jaas.config": "a b=c;"}
    assert client_settings(None) == {}


@pytest.mark.parametrize(
    ("line", "words"), [("group.id=x", "line 1: group.id is not for you"), ("security.protocol", "line 1: expected key")]
)
def test_client_settings_that_cannot_work_are_refused(tmp_path: Path, line: str, words: str) -> None:
    file = tmp_path / "client.properties"
    file.write_text(line)
    with pytest.raises(BadConfig, match=words):
        client_settings(file)


def test_a_file_of_client_settings_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(BadConfig, match=r"kafka\.client_file = .*none"):
        client_settings(tmp_path / "none")
