"""What people who operate Pulsar reported in public, rebuilt as small logs: what is right by Pulsar's own rules is answered."""

import pytest

from incidents.asked import checks, loaded_incidents
from incidents.corpus import INCIDENTS
from incidents.incident import Check
from incidents.sentences import GOLDEN, sentences_of


@pytest.mark.parametrize("check", [pytest.param(check, id=f"{name}-{check.what}") for name, check in checks()])
def test_an_incident_is_answered(check: Check) -> None:
    assert loaded_incidents().differences(check) == []


@pytest.mark.parametrize("name", INCIDENTS)
def test_the_sentences_of_an_incident_are_those_that_were_read(name: str) -> None:
    """After a change of words: `python -m incidents.sentences`, and read what changed."""
    assert sentences_of(name) == (GOLDEN / f"{name}.txt").read_text(encoding="utf-8")


def test_no_sentences_are_kept_of_an_incident_that_is_gone() -> None:
    assert {path.stem for path in GOLDEN.glob("*")} == set(INCIDENTS)
