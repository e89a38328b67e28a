"""Names are other people's texts: whatever is in them, a terminal shows it and does not obey it, and a table stays a table."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from console import command_line as cli
from console.rows import write_rows
from console.shown import aligned, print_document
from jobs import validate
from jobs.probe import json_lines, text_lines
from pipeline.diagnosis.probe.brokers import LivingBroker
from pipeline.faults import BadConfig
from pipeline.visible import WIDEST, cut_in_the_middle, visible, visible_json

#: ESC, C1's CSI, right to left, a line end, the line separator, a byte order mark.
HOSTILE = "a\x1b[31mb\x9b2J\u202ec\nd\u2028e\ufeff"
SHOWN = r"a\u001b[31mb\u009b2J\u202ec\u000ad\u2028e\ufeff"


def is_plain(text: str) -> bool:
    return all(one.isprintable() or one == "\n" for one in text)


def test_what_would_steer_a_terminal_is_shown_as_its_code() -> None:
    assert visible("a\x1b[31mb\u202ec — é ▄ заказы-✓") == "a\\u001b[31mb\\u202ec — é ▄ заказы-✓"
    assert visible(HOSTILE) == SHOWN


def test_a_character_beyond_four_digits_has_eight_of_them() -> None:
    assert visible("\U000e0041") == "\\U000e0041"


@given(st.text())
def test_every_text_becomes_visible_and_what_is_visible_stays(text: str) -> None:
    assert visible(text).isprintable()
    assert visible(visible(text)) == visible(text)


@given(st.dictionaries(st.text(), st.one_of(st.text(), st.integers(), st.lists(st.text()))), st.sampled_from([None, 2]))
def test_json_is_visible_and_gives_the_text_as_it_was(value: dict[str, Any], indent: int | None) -> None:
    text = visible_json(value, indent=indent)
    assert is_plain(text)
    assert json.loads(text) == value


def test_a_long_name_is_cut_in_the_middle_so_that_it_still_ends_as_it_ends() -> None:
    assert cut_in_the_middle("persistent://a/b/x-partition-7", 11) == "persi…ion-7"
    assert cut_in_the_middle("x" * WIDEST) == "x" * WIDEST
    assert len(cut_in_the_middle("x" * 3000)) == WIDEST


def test_one_long_name_does_not_make_every_row_as_wide_and_the_last_line_says_so() -> None:
    text = aligned(["topic", "n"], [("x" * 3000 + "end", 1), ("y", 2)], "--format json has all of it")
    head, ruler, long, short, note = text.splitlines()
    assert max(map(len, (head, ruler, long, short))) == WIDEST + len("  1")
    assert "xend  1" in long
    assert note == f"texts of more than {WIDEST} characters are cut at …; --format json has all of it"


@pytest.mark.parametrize(
    ("form", "expected"),
    [
        ("table", f"{'name':<{len(SHOWN)}}  n\n{'-' * len(SHOWN)}  -\n{SHOWN}  1\n"),
        ("json", json.dumps({"name": HOSTILE, "n": 1}) + "\n"),
    ],
)
def test_rows_of_a_query_are_lines_of_visible_text(form: str, expected: str, capsys: pytest.CaptureFixture[str]) -> None:
    write_rows(["name", "n"], [(HOSTILE, 1)], form)
    assert capsys.readouterr().out == expected


def test_programs_get_a_long_name_whole_and_csv_the_very_text(capsys: pytest.CaptureFixture[str]) -> None:
    write_rows(["name"], [("x" * 3000,)], "json")
    write_rows(["name"], [(f"\x1b{'x' * 3000}",)], "csv")
    assert capsys.readouterr().out == f'{{"name": "{"x" * 3000}"}}\nname\n\x1b{"x" * 3000}\n'


@pytest.mark.parametrize("form", ["text", "json"])
def test_documents_are_visible(form: str, capsys: pytest.CaptureFixture[str]) -> None:
    print_document({"name": HOSTILE}, form, lambda document: [f"about {document['name']}", "end"])
    out = capsys.readouterr().out
    assert is_plain(out)
    assert out == f"about {SHOWN}\nend\n" if form == "text" else json.loads(out) == {"name": HOSTILE}


def test_a_probe_is_visible() -> None:
    brokers = [LivingBroker(HOSTILE, 1, 1, 1, 1_700_000_000_000_000, stopped=True)]
    tables: dict[str, list[dict[str, Any]]] = {"topic_backlog": [], "subscription_backlog": []}
    text = list(text_lines(1_700_000_000_000_000, brokers, tables))
    assert text[0].startswith(f"{SHOWN} at 2023-11-14T22:13:20")
    assert all(map(is_plain, json_lines(brokers, tables)))


def test_an_error_is_one_visible_line(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def refused(_args: Any) -> int:
        raise BadConfig(f"no subscription of a topic x is in the log; did you mean {HOSTILE}?")

    monkeypatch.setattr(validate, "run", refused)
    assert cli.main(["validate", "x.jsonl"]) == 2
    assert capsys.readouterr().err == f"error: no subscription of a topic x is in the log; did you mean {SHOWN}?\n"


def test_what_validate_says_of_a_log_is_visible(tmp_path: Any, capsys: pytest.CaptureFixture[str]) -> None:
    line = {"v": 1, "broker": HOSTILE, "epoch": 1_700_000_000_000, "seq": 1, "ts": 1_700_000_000_000_000, "type": HOSTILE, HOSTILE: 1}
    (tmp_path / "log.jsonl").write_text(json.dumps(line) + "\n", encoding="utf-8")
    for more in ([], ["--json"]):
        cli.main(["validate", str(tmp_path / "log.jsonl"), *more])
        out = capsys.readouterr().out
        assert is_plain(out)
        assert f"broker {SHOWN} epoch" in out if not more else json.loads(out)["epochs"][0]["broker"] == HOSTILE
