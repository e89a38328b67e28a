"""The house's numbers: small functions, small files, no rooms without a job, no leftovers."""

import ast
import re
from collections import Counter
from pathlib import Path

import pytest

import tools

ROOT = Path(__file__).parents[2]
CODE = sorted(path for room in (*tools.CODE, "bench", "generators", "sim", "tests") for path in (ROOT / room).rglob("*.py"))
FOLDERS = (".", "conf", "docs/guide", "docs/reference", "docs/design", "requirements", "collector")
JAVA = sorted((ROOT / "collector/src").rglob("*.java"))
KEPT = [path for path in (*CODE, *JAVA, *(path for folder in FOLDERS for path in (ROOT / folder).glob("*.*"))) if path.is_file()]
LINES_OF_A_FUNCTION, LINES_OF_A_FILE = 60, 400
#: Nobody reads these to change them: they follow from what they are rendered of.
RENDERED = (ROOT / "pipeline/rules/fold.py",)
NO_ROOMS = {"utils", "common", "helpers", "manager", "misc"}


def identity(path: Path) -> str:
    return str(path.relative_to(ROOT))


@pytest.mark.parametrize("path", CODE, ids=identity)
def test_files_and_functions_fit_in_a_head(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    if path in RENDERED:
        return
    assert len(text.splitlines()) <= LINES_OF_A_FILE
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            assert (node.end_lineno or 0) - node.lineno < LINES_OF_A_FUNCTION, f"{identity(path)}:{node.lineno} {node.name}"


@pytest.mark.parametrize("path", JAVA, ids=identity)
def test_java_files_fit_in_a_head_and_their_types_have_a_comment(path: Path) -> None:
    lines = path.read_text(encoding="utf-8").splitlines()
    assert len(lines) <= LINES_OF_A_FILE
    declared = next(
        number for number, line in enumerate(lines) if re.match(r"(?:public )?(?:final |abstract )*(?:class|enum|interface|record) ", line)
    )
    assert "test" in path.parts or lines[declared - 1].endswith("*/")


@pytest.mark.parametrize("path", [path for path in CODE if "tests" not in path.parts], ids=identity)
def test_every_module_and_public_function_says_what_it_does(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    assert ast.get_docstring(tree), "no module docstring"
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and not node.name.startswith("_"):
            assert ast.get_docstring(node), f"{identity(path)}:{node.lineno} {node.name} has no docstring"


def test_rooms_have_a_job() -> None:
    assert [identity(path) for path in CODE if NO_ROOMS & {part.removesuffix(".py") for part in path.parts}] == []


def test_nothing_of_a_machine_is_in_the_project() -> None:
    """No path of a developer's machine and no registry's host in any file that is kept."""
    forbidden = ["/" + "root/", "/" + "work/", "pypi" + ".org", "python" + "hosted", "repo1." + "maven", "maven" + "2"]
    found = [(identity(path), word) for path in KEPT for word in forbidden if word in path.read_text(encoding="utf-8", errors="replace")]
    assert found == []


@pytest.mark.parametrize("path", KEPT, ids=identity)
def test_no_merge_is_left_half_done(path: Path) -> None:
    marks = ("<" * 7 + " ", "=" * 7 + "\n", ">" * 7 + " ")
    with path.open(encoding="utf-8", errors="replace") as lines:
        assert [line for line in lines if line.startswith(marks)] == []


def test_no_two_files_of_tests_have_one_name() -> None:
    """Of two of them pytest collects one, and takes the other for it."""
    names = Counter(path.name for path in (ROOT / "tests").rglob("test_*.py"))
    assert [name for name, count in names.items() if count > 1] == []
