"""What the collector's sources name is what the contract declares: types, fields, values, the version."""

import re

from generators.schema_files import REPOSITORY
from schemas.events import CURSOR_KINDS, EVENT_TYPES, FIELDS, LOG_VERSIONS, POLICY_KINDS, SOURCES, TYPES_BY_NAME
from schemas.events.points import POINTS

ROOT = REPOSITORY / "collector/src/main/java/io/dispatchanalytics/collector"
TEXT = {path: path.read_text(encoding="utf-8") for path in ROOT.rglob("*.java")}


def named(pattern: str, *folders: str) -> set[str]:
    """What the pattern finds in the sources, below these folders if there are any."""
    texts = [text for path, text in TEXT.items() if not folders or path.relative_to(ROOT).parts[0] in folders]
    return {name for text in texts for name in re.findall(pattern, text)}


def test_the_collector_writes_every_event_type_and_no_other() -> None:
    assert named(r'Event\.type\("(\w+)"\)') == {kind.name for kind in EVENT_TYPES}


def test_every_field_that_it_writes_is_declared() -> None:
    written = named(r'(?:Json\.key|Json\.field|new Fragments)\(\s*"(\w+)"', "broker", "hooks")
    written |= named(r',\\"(\w+)\\":', "broker")
    assert written <= set(FIELDS)
    assert {name for name, field in FIELDS.items() if field.since != LOG_VERSIONS[0]} <= written


def test_points_name_event_types() -> None:
    points = {event for found in named(r"List\.of\(([^)]*)\)", "points") for event in re.findall(r'"(\w+)"', found)}
    assert points <= set(TYPES_BY_NAME)
    assert {kind.name for kind in EVENT_TYPES if kind.since != LOG_VERSIONS[0]} <= points


def test_points_are_declared_with_the_types_that_lack_something_without_them() -> None:
    declared = re.findall(r'\bpoint\("(\w+)",\s*List\.of\(([^)]*)\)', TEXT[ROOT / "points/Points.java"])
    assert {name: tuple(re.findall(r'"(\w+)"', events)) for name, events in declared} == POINTS


def test_it_writes_the_newest_version() -> None:
    assert named(r'LOG_VERSION = "([0-9.]+)"') == {LOG_VERSIONS[-1]}


def test_values_of_a_small_set_are_declared() -> None:
    places = set(re.findall(r'static final String \w+ = "(\w+)"', TEXT[ROOT / "broker/PolicySources.java"]))
    # The collector sees what the broker joined: neither old namespaces' rates nor which of two topic policies has an override.
    assert set(SOURCES) - places == {"namespace_legacy", "subscription_global"}
    assert places <= set(SOURCES)
    kinds = re.findall(r'String (?:OF_\w+|QUOTA) = "(\w+)"', TEXT[ROOT / "broker/PoliciesAsSet.java"])
    assert set(kinds) == set(POLICY_KINDS)
    whose = re.search(r"String kindOf\(.*?\n    }", TEXT[ROOT / "broker/TopicLife.java"], re.DOTALL)
    assert whose is not None
    assert set(re.findall(r'"(\w+)"', whose[0])) == set(CURSOR_KINDS)
