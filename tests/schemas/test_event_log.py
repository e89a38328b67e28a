"""The contract's page, its JSON Schema and the parser agree: what one takes the others take."""

import json
import random
from typing import Any

import pytest
from bronze_events import random_events
from jsonschema import Draft202012Validator

from pipeline.sources.parse.line import ParsedEvent, ParseLimits, parse_line
from schemas.events import EVENT_TYPES, FIELDS, LOG_VERSIONS, NEVER_EMPTY, SOURCES, TYPES_BY_NAME, added_since, since
from schemas.render.event_log import event_log_page, users
from schemas.render.json_schema import event_schema
from schemas.tables.bronze import DISPATCH_EVENTS

PAGE = event_log_page()
SCHEMA = event_schema()
VALIDATOR = Draft202012Validator(SCHEMA)
#: Values that some field refuses.
ODD = (None, -1, -2, 0, 2**63, 2**63 - 1, "", "x", True, [], [1], ["a"], [None], {}, {"a": "b"}, {"a": 1}, 2**62 + 1, 2**31)


def events() -> list[dict[str, Any]]:
    """Events of every type, at random within the contract, as JSON objects."""
    rows = random_events(7, 600).select([*FIELDS]).to_pylist()
    for row in rows:
        if row["settings"] is not None:
            row["settings"] = dict(row["settings"])
    made = [{name: value for name, value in row.items() if value is not None and (value or name not in NEVER_EMPTY)} for row in rows]
    # Made at random they may lack what the value of a field asks for, or have an empty name.
    return [{"topic": "t", "sub": "s", "namespace": "a/b", **event} for event in made]


def taken(event: dict[str, Any]) -> bool:
    return isinstance(parse_line(json.dumps(event).encode(), ParseLimits()), ParsedEvent)


def test_the_page_has_every_type_and_every_field_with_its_version() -> None:
    for kind in EVENT_TYPES:
        section = PAGE.split(f"\n### {kind.name}\n")[1].split("\n### ")[0].split("\n## ")[0]
        shown = {line.split("`")[1]: line for line in section.splitlines() if line.startswith("| `")}
        assert list(shown) == list(kind.fields)
        assert all(f"| {since(kind, name)} |" in line for name, line in shown.items())
        assert all(("| yes |" in line) == (name in kind.required) for name, line in shown.items())
    assert all(f"| `{name}` |" in PAGE for name in FIELDS)


def test_numbers_of_types_are_never_reused() -> None:
    assert [kind.code for kind in EVENT_TYPES] == list(range(1, len(EVENT_TYPES) + 1))


def test_a_later_version_only_adds() -> None:
    old = [kind for kind in EVENT_TYPES if kind.since == LOG_VERSIONS[0]]
    assert len(old) == 32
    for kind in old:
        assert all(FIELDS[name].since == LOG_VERSIONS[0] for name in kind.required), kind.name
    assert all(DISPATCH_EVENTS.field(name).added == (field.since != LOG_VERSIONS[0]) for name, field in FIELDS.items())


def test_what_a_version_lacks() -> None:
    lacking = added_since("1.0")
    assert {"flow", "policy_set", "read.broker_msgs_tokens", "dispatch_rate.source", "cursor_open.cursor_kind"} <= set(lacking)
    assert not {"read", "flow.permits"} & set(lacking)
    assert added_since(LOG_VERSIONS[-1]) == [] == added_since("9.9")


def test_who_reads_a_field() -> None:
    assert users(TYPES_BY_NAME["read"], "left_msgs") == ("throttle",)
    assert users(TYPES_BY_NAME["dispatch"], "bytes") == ("broker",)
    assert users(TYPES_BY_NAME["broker_start"], "settings") == ("broker", "channel")
    assert users(TYPES_BY_NAME["broker_start"], "cluster") == ()
    assert users(TYPES_BY_NAME["topic_load"], "topic") == ("lanes",)


def test_the_schema_is_one() -> None:
    Draft202012Validator.check_schema(SCHEMA)


def test_events_within_the_contract_keep_the_schema() -> None:
    for event in events():
        assert taken(event), event
        assert list(VALIDATOR.iter_errors(event)) == []


def test_schema_and_parser_refuse_the_same() -> None:
    chance = random.Random(3)
    refused = 0
    for event in events():
        spoilt = {**event}
        if chance.random() < 0.5:
            spoilt.pop(chance.choice(list(event)))
        else:
            spoilt[chance.choice([*event, *FIELDS])] = chance.choice(ODD)
        assert VALIDATOR.is_valid(spoilt) == taken(spoilt), spoilt
        refused += not taken(spoilt)
    assert refused > 100


@pytest.mark.parametrize("source", SOURCES)
def test_a_policy_names_what_it_is_of(source: str) -> None:
    event = {"v": 1, "broker": "b", "epoch": 1_795_000_000_000, "seq": 1, "ts": 1_795_000_000_000_000, "type": "policy_set"}
    event |= {"source": source, "policy_kind": "subscription_dispatch_rate"}
    whole = event | {"namespace": "a/b", "topic": "t", "sub": "s"}
    assert taken(whole)
    assert VALIDATOR.is_valid(whole)
    assert taken(event) == VALIDATOR.is_valid(event) == (source in ("broker_config", "dynamic_config"))
