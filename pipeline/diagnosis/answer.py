"""The whole answer about one subscription: the verdict, its sentence, what to do."""

from collections.abc import Collection
from datetime import datetime, timedelta

from pipeline.diagnosis.advice import advice
from pipeline.diagnosis.asked import Named
from pipeline.diagnosis.context import context_of
from pipeline.diagnosis.evidence import evidence
from pipeline.diagnosis.quota_outlook import with_outlook
from pipeline.diagnosis.verdict import Document, verdict
from pipeline.diagnosis.words import sentence
from pipeline.warehouse.look import Queries


def answer(
    look: Queries,
    topic: str,
    subscription: str,
    broker: str | None,
    at: datetime | None,
    window: timedelta,
    together: Collection[Named] = (),
) -> Document:
    """The document of docs/reference/json.md, as of the last `window` before `at`. `together` is as of `evidence`. Raises NoAnswer."""
    found = evidence(look, topic, subscription, broker, at, window, together)
    document = verdict(found)
    document |= context_of(look, document)
    document |= {"quotas": with_outlook(document["quotas"], found.quotas, document["age"])}
    return {"verdict": sentence(document), **document, "advice": [step._asdict() for step in advice(document)]}
