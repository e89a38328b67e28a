"""The words in which the log is declared, and the bounds of its numbers."""

from collections.abc import Mapping
from dataclasses import dataclass, field

LONG_MAX = 2**63 - 1
LONG_MIN = -(2**63)
INT_MAX = 2**31 - 1
#: `v` of every event: readers refuse another one. Additions do not change it.
CONTRACT_VERSION = 1
#: Versions of the log, oldest first. A broker_start without `log_version` is of the oldest.
LOG_VERSIONS = ("1.0", "1.1", "1.2")
#: Wall-clock times outside [2000-01-01, 2100-01-01) are a broken clock or a wrong unit, never a broker's event.
YEAR_2000_MS = 946_684_800_000
YEAR_2100_MS = 4_102_444_800_000
#: 146 years of a monotonic clock: leaves room to add any period without leaving 64 bits.
NS_MAX = 2**62


@dataclass(frozen=True)
class EventField:
    """One field of the log: `kind` is long, string, boolean, map (string to string), longs or strings (lists of them).

    `since`: the version of the log that brought it.
    """

    name: str
    kind: str
    meaning: str
    unit: str = ""
    minimum: int = LONG_MIN
    maximum: int = LONG_MAX
    one_of: tuple[str, ...] = ()
    since: str = LOG_VERSIONS[0]


@dataclass(frozen=True)
class Needs:
    """Fields that a type requires beside the others, by the value of one of its required fields."""

    by: str
    fields: Mapping[str, tuple[str, ...]]


@dataclass(frozen=True)
class EventType:
    """One event type: its number in the lanes (never reused), and which payload fields it must and may carry.

    `since`: the version of the log that brought it. A field of a later version is in `optional`: old logs lack it. `later`: fields that
    the type has since a later version although other types had them before.
    """

    name: str
    code: int
    meaning: str
    required: tuple[str, ...] = ()
    optional: tuple[str, ...] = ()
    needs: Needs | None = None
    since: str = LOG_VERSIONS[0]
    later: Mapping[str, str] = field(default_factory=dict)
    fields: tuple[str, ...] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "fields", (*self.required, *self.optional))

    def required_of(self, values: Mapping[str, object]) -> tuple[str, ...]:
        """What this type requires of an event with these values."""
        if self.needs is None or self.needs.by not in values:
            return self.required
        return (*self.required, *self.needs.fields.get(str(values[self.needs.by]), ()))
