"""Text to numbers as Spark does it, so that a text is the same number here and in a query."""

import re

#: Around a number Spark passes over white space and control characters of ASCII.
_AROUND = "".join(map(chr, (*range(33), 127)))
_INTEGER = re.compile(r"[+-]?[0-9]+")


def integer(text: str, bits: int = 64) -> int | None:
    """What `try_cast(text AS bigint)` gives (32 bits: AS int): None for what is no integer, or not one of so many bits."""
    found = _INTEGER.fullmatch(text.strip(_AROUND))
    number = None if found is None else int(found[0])
    return number if number is not None and -(1 << (bits - 1)) <= number < 1 << (bits - 1) else None
