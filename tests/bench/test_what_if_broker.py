"""Pairs of a real broker: what is recorded, and how it is judged. ./test.sh broker records them."""

import pytest

from bench.what_if_broker.kinds import KINDS, Kind, Side, kinds_of, lives
from bench.what_if_broker.predict import Outcome
from bench.what_if_broker.record import settings_of
from bench.what_if_broker.table import summary
from bench.what_if_pairs.compare import Verdict
from pipeline.what_if.changes import changes_of


def test_kinds_have_names_and_topics_of_their_own() -> None:
    assert len({kind.name for kind in KINDS}) == len(KINDS) >= 12
    topics = [topic for kind in KINDS for topic in kind.topic_names]
    assert len(set(topics)) == len(topics)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_a_pair_has_one_load_under_two_settings(kind: Kind) -> None:
    assert kind.a != kind.b
    assert changes_of(kind.texts).any
    assert [sub.name for sub in kind.a.subs] == [sub.name for sub in kind.b.subs]


def test_all_levels_dimensions_and_limiters_are_among_the_changes() -> None:
    texts = [text for kind in KINDS for text in kind.texts]
    for level in ("broker", "topic", "subscription"):
        for dimension in ("messages", "bytes"):
            assert any(text.startswith(f"{level}.dispatch_rate.{dimension}=") for text in texts), (level, dimension)


@pytest.mark.parametrize(("broker", "side"), lives())
def test_kinds_of_one_broker_agree_on_its_settings(broker: str, side: str) -> None:
    assert settings_of(kinds_of(broker, side))


def test_kinds_that_contradict_each_other_are_refused() -> None:
    kind = KINDS[0]
    with pytest.raises(ValueError, match="someSetting is 1 for another kind"):
        settings_of([(kind, Side(settings={"someSetting": "1"})), (kind, Side(settings={"someSetting": "2"}))])


def outcome(next_limit: str | None, sure: bool, ok: bool) -> Outcome:
    """Of the first kind, without an error of the backlog. `ok`: side b replays itself."""
    verdict = Verdict(0.0, None, None, None, 1.0, ())
    return Outcome(KINDS[0], (), {"next_limit": next_limit, "sure": sure}, {"self_check": {"ok": ok}}, verdict)


def test_another_limit_that_binds_is_a_fault() -> None:
    right, wrong = (outcome(name, sure=True, ok=True) for name in (KINDS[0].next_limit, "consumers"))
    assert right.faults == ()
    assert wrong.faults == (f"consumers binds, not {KINDS[0].next_limit}",)


def test_the_summary_counts_answers_and_what_is_known_of_wrong_ones() -> None:
    right = outcome(KINDS[0].next_limit, sure=True, ok=True)
    wrong = [outcome("consumers", sure, ok) for sure, ok in ((True, False), (False, True), (True, True))]
    text = summary([right, *wrong, Outcome(KINDS[0], ("why",))])
    assert text.startswith("Of 5 pairs 4 are answered. 1 of these are within all bounds, and of 4 the truth is in the band.")
    assert text.endswith(
        "Of the 3 beyond a bound, 1 have a side b that its own settings do not replay either, and 1 are marked as not sure."
    )
