"""`quality` before it starts Spark, and what it says. No Spark."""

from dataclasses import replace
from pathlib import Path

import pytest

from console.command_line import main
from pipeline.faults import BadConfig
from pipeline.upkeep.quality.docs import check_docs_folder, clear_docs_folder
from pipeline.upkeep.quality.finding import TEXT_SHOWN, Finding, example_text


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ("topic_backlok", "did you mean topic_backlog?"),
        ("quality_results", "those are dispatch_events, "),
        ("x", "those are dispatch_events, "),
    ],
)
def test_an_unknown_table_is_refused_with_the_nearest(table: str, words: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["quality", "--warehouse", "w", "--tables", f"names,{table}"]) == 2
    assert f"error: --tables {table}: " in (said := capsys.readouterr().err)
    assert words in said


def test_a_folder_with_other_things_is_not_replaced_by_docs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "thesis.tex").touch()
    assert main(["quality", "--warehouse", "w", "--docs", str(tmp_path)]) == 2
    assert "holds thesis.tex" in capsys.readouterr().err
    with pytest.raises(BadConfig, match="is a file"):
        check_docs_folder(tmp_path / "thesis.tex")


def test_docs_of_an_earlier_run_are_replaced(tmp_path: Path) -> None:
    docs = tmp_path / "docs"
    clear_docs_folder(docs)
    (docs / "validations" / "old").mkdir(parents=True)
    (docs / "index.html").touch()
    clear_docs_folder(docs)
    assert not docs.exists()


def test_what_is_broken_is_one_line_with_table_column_count_and_example() -> None:
    a_set = Finding(
        "names", "set", "level", "", "e", "level is one of a", success=False, unexpected=1, example='{"id": 1}', table_versions={}
    )
    assert a_set.line == 'names.level: 1 row: level is one of a; e.g. {"id": 1}'
    key = replace(a_set, kind="key", columns="a, b", demand="(a, b) occurs once", unexpected=2000)
    assert key.line == 'names: 2,000 rows: (a, b) occurs once; e.g. {"id": 1}'
    invariant = replace(a_set, kind="invariant", columns="", invariant="it_holds", demand="It holds.", table_name="names, quarantine")
    assert invariant.line == 'invariant it_holds: 1 row: It holds.; e.g. {"id": 1} (names, quarantine)'


def test_a_long_text_is_cut_in_an_example() -> None:
    assert example_text({"raw": "x" * 1000, "n": None, "ü": 1}) == '{"raw": "' + "x" * TEXT_SHOWN + '", "n": null, "ü": 1}'
