"""The pages can be read at night: short lines, plain words, links that lead somewhere, names and messages that exist."""

import ast
import re
from pathlib import Path

import pytest
from docs_pages import (
    ARCHITECTURE,
    CONTENTS,
    GLOSSARY,
    OPERATIONS,
    PAGES,
    PLAIN_PAGES,
    README,
    ROOT,
    RUNBOOK,
    anchors,
    command_lines,
    lines_outside_code,
    links,
    prose,
    queries,
    text_of,
    words_of,
)

from generators import by_question, drawing
from pipeline.query.views.status_words import STATUS, WELL
from pipeline.settings import known_keys
from schemas.completeness import INCOMPLETE_REASONS
from schemas.tables import TABLES

LINE_CHARACTERS, CODE_CHARACTERS = 120, 140
#: A clause in the place of a noun: only questions have it.
NOUN_CLAUSE = re.compile(r"\b(?:what(?!-if\b|_if\b)|whatever|whoever|that which)\b[^.?!|:;]*[.?!|:;]", re.IGNORECASE)
#: Of software: a program reports, emits, logs, prints, shows.
NOT_OUR_WORDS = re.compile(r"\b(?:tells?|telling|told|says?|saying|said)\b", re.IGNORECASE)
VIEW_FILES = {path.stem: path.read_text(encoding="utf-8") for path in (ROOT / "pipeline/query/views").glob("*.sql")}
TABLES_AND_VIEWS = {*(table.name for table in TABLES), *VIEW_FILES}
#: Terms that the first pages use in their everyday sense as well: "the job runs", "held back", "what a limiter answers".
ALSO_EVERYDAY_WORDS = {"agrees", "answer", "complete", "held", "machine", "run", "shrunk and blocked"}
INVARIANT_ROWS = tuple(f"| `{path.stem}`" for path in (ROOT / "pipeline/upkeep/quality/invariants").glob("*.sql"))
TERMS = re.findall(r"^## (.+)$", text_of(GLOSSARY), re.MULTILINE)

every_page = pytest.mark.parametrize("page", PAGES, ids=lambda path: path.name)
every_plain_page = pytest.mark.parametrize("page", PLAIN_PAGES, ids=lambda path: path.name)


@every_plain_page
def test_lines_fit_a_screen_but_for_tables(page: Path) -> None:
    text = text_of(page)
    prose_lines = {number for number, _ in lines_outside_code(text)}
    lines = [(number, line) for number, line in enumerate(text.splitlines(), 1) if not line.startswith("|")]
    limits = [(number, len(line), LINE_CHARACTERS if number in prose_lines else CODE_CHARACTERS) for number, line in lines]
    assert [(number, length) for number, length, limit in limits if length > limit] == []


@every_page
def test_no_clause_stands_in_the_place_of_a_noun(page: Path) -> None:
    """Subject, verb, object: "the rows that differ", not "what differs". Questions may ask."""
    text = re.sub(r"\]\([^)]*\)", "]", prose(text_of(page)))
    assert [clause for clause in NOUN_CLAUSE.findall(f"{text}.") if not clause.endswith("?")] == []


@every_plain_page
def test_software_reports_and_does_not_speak(page: Path) -> None:
    """But for the invariants, whose sentences quality.md quotes."""
    ours = "\n".join(line for line in text_of(page).splitlines() if not line.startswith(INVARIANT_ROWS))
    assert NOT_OUR_WORDS.findall(prose(ours)) == []


@pytest.mark.parametrize("page", [*PAGES, ROOT / "bench/README.md"], ids=lambda path: str(path.relative_to(ROOT)))
def test_every_link_leads_to_a_file_and_a_heading(page: Path) -> None:
    broken = []
    for file, anchor in links(text_of(page)):
        target = (page.parent / file).resolve() if file else page
        if not target.exists() or (anchor and anchor not in anchors(text_of(target))):
            broken.append(f"{file}#{anchor}")
    assert broken == []


def test_every_page_is_reached_from_the_readme() -> None:
    """The README leads to the contents, the contents to every page."""
    assert str(CONTENTS.relative_to(ROOT)) in {file for file, _ in links(text_of(README))}
    assert {(CONTENTS.parent / file).resolve() for file, _ in links(text_of(CONTENTS))} >= {*PAGES} - {README, CONTENTS}


def test_the_readme_is_short() -> None:
    assert len(text_of(README).splitlines()) <= 110


def test_the_map_of_views_is_what_is_declared() -> None:
    assert by_question.DOCUMENT.read_text(encoding="utf-8") == by_question.render(), "run: python -m generators"
    assert {f"[`{name}`]" for name in TABLES_AND_VIEWS} - set(re.findall(r"\[`\w+`\]", text_of(by_question.DOCUMENT))) == set()


def test_the_drawing_is_that_of_its_text() -> None:
    assert drawing.DRAWING.read_text(encoding="utf-8") == drawing.draw(text_of(drawing.TEXT)), "run: python -m generators"


def test_the_drawing_names_tables_that_exist() -> None:
    named = {part for line in text_of(drawing.TEXT).splitlines() for part in re.findall(r"\b[a-z]+(?:_[a-z]+)+\b", line)}
    assert len(named) > 15
    assert named - TABLES_AND_VIEWS == set()


def test_a_line_that_the_drawing_does_not_know_is_named() -> None:
    with pytest.raises(ValueError, match="line 2: 'rwo step'"):
        drawing.draw("title T\nrwo step\n")


def test_the_runbook_begins_with_why_and_explain() -> None:
    """And leads from each status of `why` to what to do."""
    first, second = [words_of(line)[0] for line in command_lines(text_of(RUNBOOK))][:2]
    assert (first, second) == ("why", "explain")
    named = set(re.findall(r"`([a-z ]+)`", text_of(RUNBOOK).partition("| status | go to |")[2].partition("\n\n")[0]))
    assert {*STATUS.values(), "stuck", "unknown"} - named - {*WELL} == set()


def test_the_glossary_is_in_order() -> None:
    assert len(TERMS) > 30
    assert sorted(TERMS, key=str.lower) == TERMS


@pytest.mark.parametrize("term", TERMS)
def test_a_term_is_used_and_linked(term: str) -> None:
    """Its explanation is one click away from the pages that use it."""
    others = [page for page in PAGES if page != GLOSSARY]
    for word in term.split(" and "):
        used = re.compile(r"\b" + r"\s+".join(map(re.escape, word.split())), re.IGNORECASE)
        assert any(used.search(text_of(page)) for page in others), f"no page uses {word}"
    (anchor,) = anchors(f"## {term}")
    assert any(file.endswith("glossary.md") and found == anchor for page in others for file, found in links(text_of(page)))


def test_a_term_is_linked_from_the_first_page_that_uses_it() -> None:
    """In the order in which the pages are read. Tables of keys and columns count as used, code does not."""
    seen: set[str] = set()
    for page in (README, OPERATIONS, ARCHITECTURE, RUNBOOK):
        text = re.sub(r"\]\([^)]*\)", "]", prose(text_of(page)))
        linked = {anchor for file, anchor in links(text_of(page)) if file.endswith("glossary.md")}
        words = {term: r"\b(?:" + "|".join(r"\s+".join(word.split()) for word in term.split(" and ")) + r")s?\b" for term in TERMS}
        used = {term for term in TERMS if re.search(words[term], text, re.IGNORECASE)} - seen - ALSO_EVERYDAY_WORDS
        assert {term for term in used if not anchors(f"## {term}") <= linked} == set(), page.name
        seen |= used


@every_page
def test_a_query_reads_tables_and_views_that_exist(page: Path) -> None:
    read = {name for query in queries(text_of(page)) for name in re.findall(r"\b(?:FROM|JOIN) (\w+)", query)}
    assert read - TABLES_AND_VIEWS == set()


def test_every_name_in_the_runbook_exists() -> None:
    """Of tables, views, columns, values and settings: `snake_case` or `section.key` between backticks."""
    declared = {field.name for table in TABLES for field in table.fields} | {f"{table}" for table in TABLES_AND_VIEWS}
    declared |= {value for table in TABLES for field in table.fields for value in re.findall(r"'(\w+)'", field.check or "")}
    declared |= INCOMPLETE_REASONS.keys()
    declared |= {word for sql in (*VIEW_FILES.values(), *queries(text_of(RUNBOOK))) for word in re.findall(r"\w+", sql)}
    spans = {span for _, line in lines_outside_code(text_of(RUNBOOK)) for span in re.findall(r"(?<!`)`([^`]+)`(?!`)", line)}
    names = {span for span in spans if re.fullmatch(r"[a-z]+(?:_[a-z]+)+", span)}
    settings = {span for span in spans if re.fullmatch(r"(?:ingest|lanes|stream|maintain|watch)\.[a-z_]+", span)}
    assert len(names) > 30
    assert {name for name in names if not name.startswith("pulsar_")} - declared == set()
    assert settings - known_keys().keys() == set()


def test_a_command_of_the_runbook_that_writes_is_marked() -> None:
    """Who is tired must not start a rebuild for a look: the comment above such a command begins with it."""
    writes = re.compile(r"^\./spark-submit\.sh (?:stream|maintain|backfill|rebuild|quality|quarantine)\b")
    marked, unmarked = 0, []
    comment = ""
    for line in text_of(RUNBOOK).splitlines():
        if line.startswith("# "):
            comment = line
        elif writes.match(line) and "--dry-run" not in line:
            marked += comment.startswith("# Writes")
            unmarked += [] if comment.startswith("# Writes") else [line]
    assert marked > 5
    assert unmarked == []


def messages_of_the_code() -> list[str]:
    """Every text in the sources, with … for what is filled in."""
    texts = [(ROOT / "spark-submit.sh").read_text(encoding="utf-8")]
    for room in ("console", "demo", "driver", "jobs", "pipeline", "tools"):
        for path in (ROOT / room).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.Constant) and isinstance(node.value, str):
                    texts.append(node.value)
                elif isinstance(node, ast.JoinedStr):
                    texts.append("".join(str(part.value) if isinstance(part, ast.Constant) else "…" for part in node.values))
    return texts


def quoted_messages() -> list[str]:
    """Code spans in the column `message` of the runbook's tables."""
    quoted, column = [], None
    for _, line in lines_outside_code(text_of(RUNBOOK)):
        cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line)] if line.startswith("|") else []
        if "message" in cells:
            column = cells.index("message")
        elif not cells:
            column = None
        elif column is not None:
            quoted += [double or single for double, single in re.findall(r"``(.+?)``|`([^`]+)`", cells[column])]
    return quoted


def test_every_message_in_the_runbook_is_one_of_the_code() -> None:
    """As far as a message is fixed: `…` stands for what is filled in, also by another text of the code."""
    texts = messages_of_the_code()
    quoted = quoted_messages()
    assert len(quoted) > 40
    parts = {part.strip() for message in quoted for part in message.split("…")}
    assert {part for part in parts if not any(part in text for text in texts)} == set()
