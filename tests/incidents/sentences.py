"""The sentences about every incident, as files that a reviewer reads. `python -m incidents.sentences` (tests in PYTHONPATH) writes them.

Of each subscription: the verdict and the first advice at the end of the log, and at the instants that the checks ask about.
"""

from collections.abc import Iterator
from pathlib import Path

from incidents.asked import loaded_incidents
from incidents.corpus import INCIDENTS
from incidents.incident import Check

GOLDEN = Path(__file__).parent / "golden"


def asked_of(name: str) -> Iterator[Check]:
    """The questions, each once, in the order of the incident's truth."""
    incident = INCIDENTS[name]
    of_checks = [(check.explain, check.at, check.window) for check in incident.checks if check.explain is not None]
    of_truth = [((one.topic, one.subscription), None, 600) for one in incident.truth]
    for named, at, window in dict.fromkeys([*of_truth, *of_checks]):
        yield Check("a sentence", named, at=at, window=window)


def sentences_of(name: str) -> str:
    """The text of the golden file."""
    parts = [f"{INCIDENTS[name].report}\n"]
    for check in asked_of(name):
        assert check.explain is not None
        found = loaded_incidents().document(check)
        when = "at the end" if check.at is None else f"{check.at:g} s after the start"
        lines = [f"{check.explain[1]} of {check.explain[0]}, {when}, the last {check.window} s:", f"  {found['verdict']}"]
        lines += [f"  do: {step['do']}{' ' + step['command'] if step['command'] else ''}" for step in found["advice"][:1]]
        parts.append("\n".join([*lines, f"  how sure: {found['confidence']}\n"]))
    return "\n".join(parts)


def main() -> None:
    """Write all of them."""
    GOLDEN.mkdir(exist_ok=True)
    for name in INCIDENTS:
        (GOLDEN / f"{name}.txt").write_text(sentences_of(name), encoding="utf-8")


if __name__ == "__main__":
    main()
