"""The demo's comparison of paused and resumed connections: equal figures pass, any difference is shown and counted."""

from pathlib import Path

from demo.channels import compared_pauses
from tools.live_broker.broker_metrics import connection_counters

OTEL = (Path(__file__).resolve().parents[2] / "demo/y_incident/otel.txt").read_text(encoding="utf-8")


def test_pauses_are_read_from_the_broker_s_figures() -> None:
    assert connection_counters(OTEL) == {"paused": 28, "resumed": 28}
    assert connection_counters("") == {"paused": 0, "resumed": 0}


def test_equal_counters_are_shown_as_equal() -> None:
    text, different, _ = compared_pauses({"paused": 28, "resumed": 28}, connection_counters(OTEL))
    assert different == 0
    assert text.endswith("all 2 counters equal")


def test_one_pause_more_is_a_difference() -> None:
    text, different, _ = compared_pauses({"paused": 29, "resumed": 28}, connection_counters(OTEL))
    assert different == 1
    assert "paused 29 / 28" in text
    assert text.endswith("1 of 2 counters DIFFERENT")
