"""Ids of names: hashes, as Spark's xxhash64 computes them."""

import xxhash

#: xxhash64 begins with this seed, and takes the hash of a value as the seed of the next.
_SEED, _BITS = 42, 64
#: Levels of names. The level is hashed in, so that a topic never has a broker's id.
BROKER, TOPIC, SUBSCRIPTION = "b", "t", "s"
US_PER_DAY = 86_400_000_000


def id_of(level: str, *texts: str) -> int:
    """The id of a name of that level, as xxhash64 gives it: a signed long."""
    number = _SEED
    for text in (level, *texts):
        number = xxhash.xxh64_intdigest(text.encode(), number)
    return number - (1 << _BITS) if number >> (_BITS - 1) else number
