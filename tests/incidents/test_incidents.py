"""What people who operate Pulsar reported in public, rebuilt as small logs: what is right by Pulsar's own rules is answered.

A check that is known to be wrong has the reason (`fails`); it must be taken away when the answer is right.
"""

import pytest

from incidents.asked import checks, loaded_incidents
from incidents.incident import Check


def _known(check: Check) -> list[pytest.MarkDecorator]:
    """Not strict: pytest names those that pass by now (XPASS), and their reasons go at the next look."""
    return [pytest.mark.xfail(reason=check.fails, raises=AssertionError, strict=False)] if check.fails else []


EVERY_CHECK = [pytest.param(check, id=f"{name}-{check.what}", marks=_known(check)) for name, check in checks()]


@pytest.mark.parametrize("check", EVERY_CHECK)
def test_an_incident_is_answered(check: Check) -> None:
    assert loaded_incidents().differences(check) == []
