"""The word, the icon and the hue of a status, and those of a cause: a hue is a cause, and no status is told by colour alone. Pure."""

from typing import Any, NamedTuple

from pipeline.query.views.status_words import STATUS, WELL


class Badge(NamedTuple):
    """A word with its icon (a symbol of icons.html) and its hue (a class of style.css)."""

    word: str
    icon: str
    hue: str


LOSING = Badge("Losing entries", "loss", "harm")
SHUT_OUT = Badge("Producers shut out", "shut", "harm")
_OF_STATUS = {
    "current": ("ok", "ok"),
    "keeping up": ("ok", "mute"),
    "delayed": ("ok", "mute"),
    "catching up": ("ok", "mute"),
    "held back": ("held", "lim"),
    "slow consumers": ("slow", "slow"),
    "idle consumers": ("slow", "slow"),
    "unacked limit": ("slow", "slow"),
    "unacknowledged": ("slow", "slow"),
    "keys blocked": ("slow", "slow"),
    "redelivering": ("slow", "slow"),
    "open transaction": ("slow", "slow"),
    "no consumer": ("none", "none"),
    "channel blocked": ("chan", "chan"),
    "unknown": ("unk", "mute"),
}
_OTHER = ("chan", "none")
_OF_CAUSE = {
    "no_consumer": "none",
    "throttled": "lim",
    "channel": "chan",
    "no_permits": "slow",
    "unacked_limit": "slow",
    "no_flow": "slow",
    "keys_blocked": "slow",
    "transaction": "slow",
    "redelivery": "slow",
    "in_flight": "slow2",
    "unknown": "unk",
}
#: A part of the time is no status.
_NAMES = {**STATUS, "delayed": "delayed", "catching_up": "delivering"}


def badge_of(status: str) -> Badge:
    """Of a status of the view `why`."""
    icon, hue = _OF_STATUS.get(status, _OTHER)
    return Badge(f"{status[:1].upper()}{status[1:]}", icon, hue)


def hue_of(cause: str | None) -> str:
    """The fill of a cause in a chart: a class of style.css without its `k-`."""
    return _OF_CAUSE.get(cause or "", "work")


def cause_name(account: dict[str, Any]) -> str:
    """Short: `topic limit`, `slow consumers`."""
    if account["cause"] == "throttled":
        return f"{account['level']} limit ({'messages' if account['dimension'] == 'msg' else 'bytes'})"
    return _NAMES.get(account["cause"], account["cause"])


def is_well(status: str) -> bool:
    """Nobody has to act."""
    return status in WELL
