"""`export openmetrics`: each sample is as /metrics/clean had it at its instant, in a text that OpenMetrics' strict parser reads."""

import subprocess
import sys
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from capture_events import capture_events, write_events
from loaded import load_into
from prometheus_client.openmetrics.parser import text_string_to_metric_families as read_open_metrics

from console.command_line import main
from jobs.export import instants_between
from pipeline.faults import BadConfig
from pipeline.query.room import ReadingRoom
from pipeline.serving.clean_metrics import history as of_history
from pipeline.serving.clean_metrics.history import FAMILIES, history
from pipeline.serving.clean_metrics.text import clean_text
from pipeline.warehouse.layout import Warehouse

ROOT = Path(__file__).parents[2]
CAPTURE = Path(__file__).parents[1] / "fixtures" / "captures" / "p1_batches"
#: A border of windows amid the capture.
AT = datetime(2026, 11, 21, 11, 38, tzinfo=UTC)
WINDOW = timedelta(seconds=10)
#: They tell how far the log goes: here to its last event, there to the end of the window.
OF_THE_END = {"dispatch_log_as_of_timestamp_seconds", "dispatch_log_completeness_ratio"}
Series = dict[tuple[str, frozenset[tuple[str, str]]], float]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Warehouse:
    return load_into(CAPTURE, tmp_path_factory.mktemp("whole") / "w")


def values(text: str, at: datetime | None = None) -> Series:
    """Of each series the value at the instant; None: of a text without instants."""
    return {
        (sample.name, frozenset(sample.labels.items())): sample.value
        for family in read_open_metrics(text)
        for sample in family.samples
        if at is None or float(sample.timestamp) == at.timestamp()
    }


def of_history_alone(found: Series) -> Series:
    names = {family.sample for family in FAMILIES if family.name not in OF_THE_END}
    return {key: value for key, value in found.items() if key[0] in names}


def test_a_sample_is_what_the_clean_metrics_had_at_its_instant(whole: Warehouse, tmp_path: Path) -> None:
    """They are compared with a warehouse of the log until then. Its last window ends with its last event, some ms before the border."""
    events = capture_events(CAPTURE, until_as_of=False)
    until = [event for event in events if event["ts"] < AT.timestamp() * 1e6]
    assert 0 < len(until) < len(events)
    log = write_events(until, tmp_path / "log" / "events.jsonl.gz").parent
    then = clean_text(ReadingRoom(load_into(log, tmp_path / "w"), consistent=True), open_metrics=True)
    found = "".join(history(ReadingRoom(whole, consistent=True), [AT]))
    assert of_history_alone(values(found, AT)) == pytest.approx(of_history_alone(values(then)), rel=0.005)
    assert len({name for name, _ in values(found)}) > 10


def test_series_come_and_go_and_each_stands_alone(whole: Warehouse) -> None:
    instants = [AT - 6 * WINDOW, AT, AT + WINDOW, AT + 60 * WINDOW]
    text = "".join(history(ReadingRoom(whole, consistent=True), instants))
    first, second, third, stopped = (values(text, at) for at in instants)
    assert first == {}, "before the first window nothing is known"
    assert second.keys() & third.keys()
    assert {name for name, _ in stopped} & {"dispatch_subscription_backlog_entries"} == set(), "the broker has stopped"
    assert stopped[next(key for key in stopped if key[0] == "dispatch_broker_stopped")] == 1
    assert text.endswith("# EOF\n")


def test_topics_are_chosen_and_too_much_is_refused(whole: Warehouse, monkeypatch: pytest.MonkeyPatch) -> None:
    room = ReadingRoom(whole, consistent=True)
    topics = {dict(labels).get("topic") for _, labels in values("".join(history(room, [AT], "*/mixed")))}
    assert topics - {None} == {"persistent://real/p1/mixed"}
    monkeypatch.setattr(of_history, "MOST_SAMPLES", 10)
    with pytest.raises(BadConfig, match="more than 10 samples until 2026-11-21T11:38:00Z"):
        list(history(room, [AT]))


@pytest.mark.parametrize(
    ("start", "end", "step", "found"),
    [(0, 30, 10, [0, 10, 20, 30]), (1, 29, 10, [10, 20]), (1, 9, 10, []), (20, 10, 10, []), (5, 5, 5, [5])],
)
def test_instants_are_whole_steps(start: int, end: int, step: int, found: Iterable[int]) -> None:
    at = [datetime.fromtimestamp(1_800_000_000 + seconds, UTC) for seconds in (start, end)]
    assert [int(one.timestamp()) - 1_800_000_000 for one in instants_between(*at, timedelta(seconds=step))] == found


def test_the_command_writes_the_same_to_a_file_and_to_stdout(whole: Warehouse, tmp_path: Path) -> None:
    asked = ["export", "openmetrics", "--from", AT.isoformat(), "--to", AT.isoformat(), "--step", "10s", "--warehouse", whole.root]
    done = subprocess.run([sys.executable, "-m", "jobs", *asked], cwd=ROOT, capture_output=True, text=True, check=True)
    assert main([*asked, "--out", str(tmp_path / "history.txt")]) == 0
    assert (
        done.stdout == (tmp_path / "history.txt").read_text(encoding="utf-8") == "".join(history(ReadingRoom(whole, consistent=True), [AT]))
    )
    assert f"{len(values(done.stdout)):,} samples" in done.stderr


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"--from": "2026-11-21T11:38:01Z", "--to": "2026-11-21T11:38:09Z"}, "no whole step of 10s lies between them"),
        ({"--from": "yesterday"}, "--from yesterday: expected an ISO 8601 time"),
        ({"--step": "0s"}, "--step 0s: expected a number and its unit"),
        ({"--out": "/nowhere/at/all"}, "--out /nowhere/at/all: No such file or directory"),
        ({"--warehouse": "/none"}, "there is no warehouse at"),
    ],
)
def test_a_wrong_question_is_one_line(whole: Warehouse, changed: dict[str, str], words: str, capsys: pytest.CaptureFixture[str]) -> None:
    asked = {"--from": AT.isoformat(), "--to": AT.isoformat(), "--step": "10s", "--warehouse": whole.root, **changed}
    assert main(["export", "openmetrics", *(word for option in asked.items() for word in option)]) == 2
    error = capsys.readouterr().err
    assert words in error
    assert error.count("\n") == 1
