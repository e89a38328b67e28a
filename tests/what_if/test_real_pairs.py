"""Runs of a real broker with one setting changed: what the log of the first one predicts of the second one."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from bench.what_if_real import NAMES, backlog_of, compared, rows_of, side
from console.command_line import main
from pipeline.diagnosis.evidence import NoAnswer
from pipeline.faults import BadConfig
from pipeline.what_if.answer import what_if
from pipeline.what_if.changes import KEYS, Changes, changes_of

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "guide" / "what-if.md").read_text(encoding="utf-8")
PROMISED = (DOCS / "reference" / "json.md").read_text(encoding="utf-8").partition("## what-if")[2].partition("\n## ")[0]
#: Area between prediction and truth, by the area under the truth; or, where a subscription keeps up, entries at its highest.
AREA, KEEPS_UP = 0.10, 250
#: Its demand is just what the limit allows. Which of its reads a limiter lowers is noise, and the check of such a record refuses it.
AT_ITS_LIMIT = ("topic_rate_50_to_200", "b")
#: What is predicted to bind.
NEXT = {"consumers_1_to_3": None, "quota_raised": "consumers", "topic_rate_50_to_200": "topic.dispatch_rate.messages"}

Document = dict[str, Any]
Pair = tuple[str, Document, Document]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """For the warehouses of all sides."""
    return tmp_path_factory.mktemp("pairs")


@pytest.fixture(scope="module", params=NAMES)
def pair(request: pytest.FixtureRequest, folder: Path) -> Pair:
    """(Name, prediction of side b from side a, side b as it was)."""
    return request.param, *compared(request.param, folder)


def test_the_record_is_replayed(pair: Pair) -> None:
    for name, document in zip("ab", pair[1:], strict=True):
        check = document["self_check"]
        if (pair[0], name) == AT_ITS_LIMIT:
            assert not check["ok"]
            assert [reason.partition(" reads")[0].split()[:2] for reason in check["reasons"]] == [["limiters", "lower"]]
        else:
            assert check["ok"], check


def test_the_backlog_is_as_predicted(pair: Pair) -> None:
    lives = {one["subscription"]: one["actual"] for one in pair[2]["subscriptions"]}
    for one in pair[1]["subscriptions"]:
        true, predicted = backlog_of(lives[one["subscription"]]), backlog_of(one["predicted"])
        assert (max(true.max(), predicted.max()) <= KEEPS_UP) or abs(true - predicted).sum() <= AREA * true.sum(), one["subscription"]
        assert one["predicted"]["evicted_entries"] == lives[one["subscription"]]["evicted_entries"]


def test_what_binds_is_as_predicted(pair: Pair) -> None:
    assert pair[1]["next_limit"] == NEXT[pair[0]]


def test_the_docs_have_this_table(pair: Pair) -> None:
    for row in rows_of(*pair):
        assert f"| {' | '.join(row)} |" in PAGE


def test_the_documents_keys_are_those_that_are_promised(pair: Pair) -> None:
    # Without --until these two are null; tests/what_if/test_going_on.py has their keys.
    assert pair[1]["until"] is None
    assert all(one["projected"] is None for one in pair[1]["subscriptions"])
    found = {re.sub(r"\.(topic|subscription)$", ".broker", path) if ".throttled." in path else path for path in paths(pair[1])}
    promised = set(re.findall(r"^\| `([a-z_.\[\]]+)` \|", PROMISED, re.MULTILINE))
    promised = {path for path in promised if ".projected." not in path and not path.startswith("until.")} | {"until"}
    predicted = {path.replace(".actual.", ".predicted.") for path in promised if ".actual." in path}
    assert {path for path in found if ".held_s." not in path} - {"self_check.reasons[]", "assumptions[]"} <= promised | predicted
    # Seconds by cause are there only where something held it.
    assert promised - found <= {path for path in promised if path.endswith((".held_s", ".predicted"))}


def paths(value: Any, before: str = "") -> set[str]:
    """Paths of all that is no document and no list."""
    if isinstance(value, dict):
        return set().union(*(paths(one, f"{before}.{name}" if before else name) for name, one in value.items()))
    if isinstance(value, list) and value and isinstance(value[0], dict):
        return set().union(*(paths(one, f"{before}[]") for one in value))
    return {before}


def test_the_docs_have_every_key_with_its_meaning() -> None:
    assert all(f"| `{key}` | {meaning} |" in PAGE for key, meaning in KEYS.items())


def test_the_command_answers_and_refuses(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    a = side("quota_raised", "a", folder)
    topic, warehouse = a.changed["topic"], a.room.warehouse.root

    def asked(*words: str) -> tuple[int, str, str]:
        capsys.readouterr()
        code = main(["what-if", *words, "--warehouse", warehouse])
        return code, *capsys.readouterr()

    code, out, _ = asked(topic, "archive", "--consumers", "3")
    assert code == 0
    assert out.startswith("archive: 314 entries at most, gone at ")
    assert "This takes for granted:" in out
    code, out, _ = asked(topic, "--set", "quota.size=none", "--format", "json")
    assert (code, [one["predicted"]["evicted_entries"] for one in json.loads(out)["subscriptions"]]) == (0, [0, 0])
    for words, refused in [
        ((topic, "nobody"), "nobody: no such subscription; there are archive, idle"),
        ((topic, "--consumers", "3"), "name it after the topic; there are archive, idle"),
        (("persistent://real/no/such",), "the log has no event of persistent://real/no/such"),
        ((topic, "--set", "quota.size=big"), "--set quota.size=big: expected a whole number from 1 on"),
        ((topic, "--to", "2020-01-01T00:00:00Z"), "--to must be later than --from"),
    ]:
        code, out, err = asked(*words)
        assert (code, out, refused in err) == (2, "", True), err


def test_a_longer_stretch_than_the_record_is_refused(folder: Path) -> None:
    a = side("quota_raised", "a", folder)
    with pytest.raises(BadConfig):
        what_if(a.room, a.changed["topic"], None, Changes(), None, (a.span[1], a.span[0]))
    with pytest.raises(NoAnswer):
        what_if(a.room, "persistent://real/none/none", None, changes_of([]), None, a.span)


@pytest.mark.parametrize(("name", "compared_asks", "exact"), [("a", 286, 286), ("b", 1067, 1066)])
def test_the_docs_have_how_near_the_model_of_a_shared_limit_is(folder: Path, name: str, compared_asks: int, exact: int) -> None:
    room = side("topic_rate_50_to_200", name, folder).room
    rows = room.rows("SELECT sum(compared) AS compared, sum(exact) AS exact, max(largest_difference) AS apart FROM limiter_windows")
    assert rows == [{"compared": compared_asks, "exact": exact, "apart": compared_asks - exact}]
    page = " ".join((DOCS / "design" / "throttling.md").read_text(encoding="utf-8").split())
    assert f"{exact:,} of {compared_asks:,}" in page


@pytest.mark.parametrize(("texts", "least", "most"), [([], 2137, 2363), (["publish_rate=2"], 4140, 4860)])
def test_a_band_is_a_twentieth_and_the_chance_of_other_publishes(folder: Path, texts: list[str], least: int, most: int) -> None:
    """Nobody consumes, and nothing is evicted: 2,250 entries wait in the end; of twice as many also two standard deviations."""
    b = side("quota_raised", "b", folder)
    document = what_if(b.room, b.changed["topic"], None, changes_of(["quota.size=none", *texts]), None, b.span)
    (idle,) = (one for one in document["subscriptions"] if one["subscription"] == "idle")
    last = idle["predicted"]["samples"][-1]
    assert (last["low"], last["high"]) == (least, most)
