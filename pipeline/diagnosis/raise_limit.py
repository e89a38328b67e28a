"""What to do about a limiter that holds a subscription: the computed rate, and the command that sets it. Pure."""

from collections.abc import Mapping
from typing import Any

from pipeline.diagnosis.commands import Step, is_partition, policy_of, step, told
from pipeline.diagnosis.counts import percent
from pipeline.diagnosis.margins import UNITS, limiter_words
from pipeline.diagnosis.rates import CHARGES_ENTRIES, CURRENT_IN_S, was_shut_out, whole_rate

Document = dict[str, Any]
#: Where what comes is not known, the rate in the command is that of now times this; the operator chooses.
FACTOR = 2
#: What pulsar-admin takes for a rate of messages.
LARGEST_INT = 2**31 - 1
LARGEST_LONG = 2**63 - 1
NO_LIMIT = -1
#: Who has less than this times the own share is not called the largest user.
MUCH_MORE = 1.5
#: From so many messages an entry on an entry is called a batch.
_BATCHED = 1.5


def throttled(document: Document) -> list[Step]:
    """Raise it to what is needed; what binds then; who uses it most."""
    level, dimension = document["level"], document["dimension"]
    limit = limit_of(document, level, dimension)
    if limit is None and not _is_charged(document, level, dimension):
        return [told(f"The {level}'s limiter of {UNITS[dimension]} holds it. The next finished window has its rate: look again then.")]
    if limit is None:
        return [told(f"The {level} limiter of {UNITS[dimension]} held it back, and is gone by now. Look again later.")]
    steps = [_raise(document, level, limit), *_batches(document, limit), *_next(document, level, dimension)]
    users = document["shared_with"]
    own = next((one["share"] or 0 for one in users if one["this"]), 0)
    if users and not users[0]["this"] and (users[0]["share"] or 0) > MUCH_MORE * own:
        first = users[0]
        largest = f"{first['subscription']} of {first['topic']} has {percent(first['share'])} of what this limiter gave"
        act = "slow down" if first["topic"] == document["topic"] else "slow down or move"
        steps.append(told(f"Or {act} its largest user: {largest}."))
    return steps


def _is_charged(document: Document, level: str, dimension: str) -> bool:
    """Whether a window has a backlog that is charged to the limiter; one that holds it only since then may be new."""
    return any((one["level"], one["dimension"]) == (level, dimension) for one in document["causes"])


def limit_of(document: Document, level: str, dimension: str) -> Mapping[str, Any] | None:
    """The limiter of this level and dimension that is in force."""
    return next((one for one in document["limits"] if (one["level"], one["dimension"]) == (level, dimension)), None)


def rate_words(limit: Mapping[str, Any]) -> str:
    """`100 messages per 1 s`."""
    return f"{limit['rate']:,} {UNITS[limit['dimension']]} per {limit['period_s']:g} s"


def _raise(document: Document, level: str, limit: Mapping[str, Any]) -> Step:
    """Both dimensions are one object in Pulsar: who sets one of them sets the other, too."""
    rate, why = _rate(document, limit)
    if rate <= limit["rate"]:
        needed = f"{rate:,} per {limit['period_s']:g} s"
        return told(f"The {level}'s limit of {UNITS[limit['dimension']]} allows what is needed by now, {needed}. Wait, and look again.")
    rates = {one["dimension"]: one["rate"] for one in document["limits"] if one["level"] == level} | {limit["dimension"]: rate}
    msgs, bytes_ = min(rates.get("msg", NO_LIMIT), LARGEST_INT), min(rates.get("bytes", NO_LIMIT), LARGEST_LONG)
    words = f"Raise the {level}'s limit of {UNITS[limit['dimension']]}. {why}"
    if level == "broker":
        name, value = ("dispatchThrottlingRateInMsg", msgs) if limit["dimension"] == "msg" else ("dispatchThrottlingRateInByte", bytes_)
        return step(f"{words} All brokers of the cluster get it:", "brokers", "update-dynamic-config", "--config", name, "--value", value)
    options: list[object] = ["-md", msgs, "-bd", bytes_, "-dt", max(1, round(limit["period_s"]))]
    if limit["relative"]:
        options.append("-rp")
    each = "; each partition gets it" if is_partition(document["topic"]) else ""
    words = f"{words} A policy of the topic wins over those of the namespace and the broker{each}:"
    if level == "topic":
        return policy_of(words, "set-dispatch-rate", document["topic"], *options)
    of_subscription = ("--subscription", document["subscription"], *options)
    return policy_of(words, "set-subscription-dispatch-rate", document["topic"], *of_subscription)


def _rate(document: Document, limit: Mapping[str, Any]) -> tuple[int, str]:
    """The rate of the command, and from which figures it follows. A relative limiter adds what is published to its rate."""
    need, period_s = document["needed"], limit["period_s"]
    if need is None:
        why = "A quota shut its producers out in the last minutes" if was_shut_out(document) else "No quota check tells what comes"
        return limit["rate"] * FACTOR, f"{why}, so the rate is doubled here: choose yours."
    published = need["publish_entries_per_s"] * need["permits_per_entry"] if limit["relative"] else 0.0
    rate = whole_rate(need["current_per_s"] - published, period_s)
    least = whole_rate(need["keeps_up_per_s"] - published, period_s)
    unit, several = UNITS[limit["dimension"]], need["held"]
    each = "each counts as one" if need["counts_entries"] else f"{need['permits_per_entry']:,.1f} {unit} each"
    comes = f"{need['publish_entries_per_s']:,.1f} entries/s came in the last minutes, {each}"
    shared = f", to each of {several} subscriptions that it holds" if several > 1 else ""
    others = f"; others draw {need['others_per_s']:,.1f}/s on it" if need["others_per_s"] >= 0.05 else ""
    return rate, (
        f"{comes}{shared}{others}: it catches up above {least:,} {unit} per {period_s:g} s,"
        f" and at {rate:,} it is current in {CURRENT_IN_S // 60} min{_if_taken(document)}."
    )


def _if_taken(document: Document) -> str:
    """What the limiter gives has to be taken. Nobody saw consumers take more than it gave; those that hold it, too, take less."""
    taken = document["consumers_take_per_s"]
    so_far = "" if taken is None else f": they acknowledge {taken:,.1f} entries/s"
    return f", if its consumers take as much{so_far}"


def _batches(document: Document, limit: Mapping[str, Any]) -> list[Step]:
    """Why more goes out than the rate: a read asks for entries, and the limiter is charged their messages (§1.2)."""
    need = document["needed"]
    if need is None or limit["dimension"] != "msg" or need["counts_entries"] or need["permits_per_entry"] < _BATCHED:
        return []
    size = need["permits_per_entry"]
    return [
        told(
            f"A read is granted entries, and the limiter is charged messages: {limit['rate']:,} entries are batches of {size:,.0f},"
            f" {limit['rate'] * size:,.0f} messages at once, and the limiter owes them before it grants again."
            f" With {CHARGES_ENTRIES}=true a batch counts as one."
        )
    ]


def _next(document: Document, level: str, dimension: str) -> list[Step]:
    """What binds once this limit is gone: as `next limit` has it, from the reads that it blocked."""
    found = next((one for one in document["uncovers"] if (one["level"], one["dimension"]) == (level, dimension)), None)
    if found is None or found["next_level"] is None:
        return []
    limit = limit_of(document, found["next_level"], found["next_dimension"])
    rate = "" if limit is None else f" ({rate_words(limit)})"
    shared = ", which others share" if found["next_level"] != "subscription" else ""
    return [told(f"Then {limiter_words(found['next_level'], found['next_dimension'])}{rate} is next{shared}.")]
