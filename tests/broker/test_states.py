"""What the broker holds, as the log has it, is what the broker reports."""

import pytest
from broker_states import final_states_differing, samples_differing
from test_real_broker import assert_none
from theatre import Played

pytestmark = pytest.mark.broker


def test_the_last_states_are_the_brokers_stats_and_internal_stats(played: Played) -> None:
    assert_none(final_states_differing(played.capture), played)


def test_states_between_which_nothing_happened_are_the_samples_of_the_time_line(played: Played) -> None:
    if not played.scenario.timeline:
        pytest.skip("this scenario keeps no time line")
    assert_none(samples_differing(played.capture), played)


def test_every_delivery_names_its_consumers(played: Played) -> None:
    """Shares add up to their dispatch; each consumer was opened and not closed before."""
    shares: list[dict[str, object]] = []
    strange = []
    for event in played.all_events:
        if event["type"] == "dispatch_share":
            shares.append(event)
        elif event["type"] == "dispatch" and "consumers" in event:
            mine = [share for share in shares if (share["topic"], share["sub"]) == (event["topic"], event["sub"])]
            if [sum(share[name] for share in mine) for name in ("entries", "msgs", "bytes")] != [  # type: ignore[misc]
                event[name] for name in ("entries", "msgs", "bytes")
            ] or len(mine) != event["consumers"]:
                strange.append(event["seq"])
            shares = [share for share in shares if share not in mine]
        elif event["type"] == "dispatch" and "consumer" not in event and not event["topic"].rpartition("/")[2].startswith("__"):
            strange.append(event["seq"])
    assert_none(strange, played)
    assert shares == []
