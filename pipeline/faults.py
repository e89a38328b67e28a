"""Errors by blame: the operator's, the warehouse's, or ours. Bad data is never an error, it is a quarantine row."""


class BadConfig(Exception):
    """The operator's: an argument, setting or environment that cannot work. Raised before Spark starts; names the key."""


class BadWarehouse(Exception):
    """The warehouse's: a state on disk that must not be continued. The message names the command that repairs it."""


class BrokenInvariant(Exception):
    """Ours: a promise of this code does not hold. Fails the job, is never caught."""


def invariant(condition: bool, message: str) -> None:
    """Raise BrokenInvariant with `message` unless `condition` holds (an `assert` would vanish under -O)."""
    if not condition:
        raise BrokenInvariant(message)
