"""A scenario: a known load on a broker, with the truth of what holds which subscription back and when."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from tools.live_broker.stage import Stage


@dataclass(frozen=True)
class Scenario:
    """What is done to a broker. `load` returns when the load is over."""

    name: str
    #: For people: the load, the limits, what is expected of it.
    what: str
    load: Callable[[Stage], None]
    #: The broker's settings in this scenario, beside those of every one.
    settings: Mapping[str, str] = field(default_factory=dict)
    #: Whether statistics of every topic are sampled all the time.
    timeline: bool = False
