"""The house's numbers: small functions, small files, no rooms without a job, no leftovers."""

import ast
import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

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


@cache
def tree_of(path: Path) -> ast.Module:
    """The file's syntax."""
    return ast.parse(path.read_text(encoding="utf-8"))


def functions_of(path: Path) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def lines_of(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").splitlines()


def test_files_and_functions_fit_in_a_head() -> None:
    written = [path for path in CODE if path not in RENDERED]
    assert [identity(path) for path in (*written, *JAVA) if len(lines_of(path)) > LINES_OF_A_FILE] == []
    long = [
        f"{identity(path)}:{node.lineno} {node.name}"
        for path in written
        for node in functions_of(path)
        if (node.end_lineno or 0) - node.lineno >= LINES_OF_A_FUNCTION
    ]
    assert long == []


def test_types_of_java_have_a_comment() -> None:
    bare = []
    for path in JAVA:
        lines = lines_of(path)
        declared = next(
            number
            for number, line in enumerate(lines)
            if re.match(r"(?:public )?(?:final |abstract )*(?:class|enum|interface|record) ", line)
        )
        if "test" not in path.parts and not lines[declared - 1].endswith("*/"):
            bare.append(identity(path))
    assert bare == []


def test_every_module_and_public_function_says_what_it_does() -> None:
    bare = []
    for path in CODE:
        if "tests" in path.parts:
            continue
        public = [node for node in tree_of(path).body if isinstance(node, ast.FunctionDef | ast.ClassDef) and not node.name.startswith("_")]
        bare += [identity(path)] if not ast.get_docstring(tree_of(path)) else []
        bare += [f"{identity(path)}:{node.lineno} {node.name}" for node in public if not ast.get_docstring(node)]
    assert bare == []


def test_rooms_have_a_job() -> None:
    assert [identity(path) for path in CODE if NO_ROOMS & {part.removesuffix(".py") for part in path.parts}] == []


def test_nothing_of_a_machine_is_in_the_project() -> None:
    """No path of a developer's machine and no registry's host in any file that is kept."""
    forbidden = ["/" + "root/", "/" + "work/", "pypi" + ".org", "python" + "hosted", "repo1." + "maven", "maven" + "2"]
    found = [(identity(path), word) for path in KEPT for word in forbidden if word in path.read_text(encoding="utf-8", errors="replace")]
    assert found == []


def test_no_merge_is_left_half_done() -> None:
    starts = ("<" * 7 + " ", "=" * 7 + "\n", ">" * 7 + " ")
    found = []
    for path in KEPT:
        with path.open(encoding="utf-8", errors="replace") as lines:
            found += [f"{identity(path)}:{number}" for number, line in enumerate(lines, 1) if line.startswith(starts)]
    assert found == []


def test_no_two_files_of_tests_have_one_name() -> None:
    """Of two of them pytest collects one, and takes the other for it."""
    names = Counter(path.name for path in (ROOT / "tests").rglob("test_*.py"))
    assert [name for name, count in names.items() if count > 1] == []
