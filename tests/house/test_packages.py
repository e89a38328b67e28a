"""A package of rules is its two folders and one name in a list: nothing else of the product knows it."""

import re
from pathlib import Path

import tools
from schemas.packages import NAMES, PACKAGES
from schemas.tables import JOB_TABLES, LANE_TABLES

ROOT = Path(__file__).parents[2]
CODE = sorted(path for room in tools.CODE for path in (ROOT / room).rglob("*.py"))


def lines_that_name(package: str) -> list[str]:
    """Lines of the product's code, outside the package's own folders, that import it or have its name as a text."""
    own = (ROOT / "pipeline/rules" / package, ROOT / "schemas/packages" / package)
    named = re.compile(rf'(?:rules|packages)(?:\.| import (?:\w+, )*){package}\b|"{package}"')
    return [
        f"{path.relative_to(ROOT)}: {line.strip()}"
        for path in CODE
        if not any(path.is_relative_to(folder) for folder in own)
        for line in path.read_text(encoding="utf-8").splitlines()
        if named.search(line)
    ]


def test_the_channel_package_is_one_name_in_a_list_and_what_is_rendered_of_it() -> None:
    lines = lines_that_name("channel")
    # A cause has this name, too: pipeline/diagnosis, the page and the view `why` have words for it.
    elsewhere = ("pipeline/rules/fold.py", "pipeline/diagnosis/", "pipeline/query/views/status_words.py", "pipeline/pages/badges.py")
    assert [line for line in lines if not line.startswith(elsewhere)] == [
        'schemas/packages/__init__.py: NAMES = ("broker", "throttle", "backlog", "channel", "policy", "cause")',
        'schemas/packages/cause/causes.py: "channel",',
        'schemas/packages/cause/causes.py: ("channel", None, None, None, None),',
    ]


def test_every_package_has_both_folders_and_declares_itself_by_its_name() -> None:
    for name, package in zip(NAMES, PACKAGES, strict=True):
        assert package.name == name
        assert (ROOT / "pipeline/rules" / name / "package.py").exists()


def test_what_packages_declare_reaches_the_tables() -> None:
    declared = {table.name for package in PACKAGES for table in package.tables}
    assert declared <= {table.name for table in LANE_TABLES} <= {table.name for table in JOB_TABLES}
