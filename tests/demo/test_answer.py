"""What the demo prints: the answer of `why` first, then a line of proof; and the page of --serve."""

import argparse
import json
import socket
import urllib.error
import urllib.request
from pathlib import Path

import pytest
from loaded import load_into

from demo.answer import answer_words
from demo.page import Page
from demo.proof import Compared, proof_line
from demo.report import report
from jobs.demo import run
from pipeline.faults import BadConfig
from pipeline.query.room import ReadingRoom
from pipeline.query.views.status_words import WELL
from pipeline.warehouse.layout import Warehouse

CAPTURES = Path(__file__).parents[1] / "fixtures" / "captures"


@pytest.fixture(scope="module")
def loaded(tmp_path_factory: pytest.TempPathFactory) -> Warehouse:
    return load_into(CAPTURES / "p1_batches", tmp_path_factory.mktemp("demo") / "w")


def test_each_subscription_that_is_behind_is_a_line(loaded: Warehouse) -> None:
    room = ReadingRoom(loaded)
    rows = [row for row in room.rows("SELECT * FROM why") if "/__" not in row["topic"]]
    behind = [row for row in rows if row["status"] not in WELL]
    head, *rest = answer_words(room, None).splitlines()
    assert behind
    assert head.startswith(f"Who is behind, and why: {len(behind)} of {len(rows)} subscriptions, as of ")
    assert [line.split()[0] for line in rest[3:]] == [row["subscription"] for row in behind]


def test_nobody_is_said_to_be_well_where_nothing_is_known(tmp_path: Path) -> None:
    assert answer_words(ReadingRoom(Warehouse(f"file:{tmp_path}/none")), None) == "no subscription is in the tables"


def test_the_proof_counts_what_is_equal_and_names_what_is_not() -> None:
    equal, wrong = Compared("", 0, 6), Compared("", 2, 20)
    assert proof_line([("buckets", equal)]) == "Proof: all 6 figures equal to the broker's own: 6 buckets"
    words = "Proof: 2 of 26 figures DIFFERENT from the broker's own: 6 buckets, 20 eviction counters (2 DIFFERENT)"
    assert proof_line([("buckets", equal), ("eviction counters", wrong)]) == words


def test_a_difference_is_shown_figure_by_figure_without_being_asked_for(
    loaded: Warehouse, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    figures = 'pulsar_subscription_dispatch_throttled_msg_events{topic="persistent://x/y/z",subscription="s",reason="broker"} 7\n'
    (tmp_path / "metrics.txt").write_text(figures)
    (tmp_path / "otel.txt").write_text("")
    (tmp_path / "manifest.json").write_text(json.dumps({"as_of_us": 0}))
    assert report(loaded, loaded.root, tmp_path) == 1
    out = capsys.readouterr().out
    assert "0 / 7" in out
    assert "DIFFERENT from the broker's own" in out
    assert "equal to the broker" not in out


def test_the_page_answers_before_there_are_tables_and_when_they_are_there(loaded: Warehouse, tmp_path: Path) -> None:
    page = Page("127.0.0.1:0")
    with page.served(loaded), urllib.request.urlopen(f"{page.url}v1/why", timeout=30) as answer:
        assert json.load(answer)["subscriptions_known"] > 0
    with pytest.raises(OSError):
        urllib.request.urlopen(f"{page.url}v1/why", timeout=30)
    empty = Page("127.0.0.1:0")
    with empty.served(Warehouse(f"file:{tmp_path}/none")), pytest.raises(urllib.error.HTTPError, match="503"):
        urllib.request.urlopen(f"{empty.url}v1/why", timeout=30)


@pytest.mark.parametrize("listen", ["0.0.0.0:8480", "8480", "127.0.0.1:{taken}"])
def test_a_place_where_no_page_can_be_is_told_before_anything_starts(listen: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        asked = argparse.Namespace(serve=True, listen=listen.format(taken=taken.getsockname()[1]), live=False)
        with pytest.raises(BadConfig, match="--listen"):
            run(asked)
