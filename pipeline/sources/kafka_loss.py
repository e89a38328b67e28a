"""Whether Kafka still has what is to be read next: a decision over numbers, without Kafka and without Spark.

An offset is the number of a record in its partition, from 0. "Read to" is the first offset that was not read.
"""

from collections.abc import Mapping
from dataclasses import dataclass

Offsets = Mapping[int, int]


@dataclass(frozen=True)
class TopicNow:
    """A topic as its brokers describe it: `id` is new when it is made anew; each partition has records from `first` until before `end`."""

    id: str
    first: Offsets
    end: Offsets


@dataclass(frozen=True)
class Loss:
    """What Kafka lost: `words` for a person, and `read_to` from which the job can go on."""

    words: str
    read_to: Offsets


def loss_of(topic: str, read_to: Offsets, known_id: str | None, now: TopicNow) -> Loss | None:
    """What is lost of `topic` if it is to be read from `read_to`; None: nothing. Partitions that are new are read from their beginning.

    Without `read_to` nothing was read yet, and what there is now is the beginning. `known_id` is that of the topic when it was read last;
    None: nobody noted it.
    """
    if known_id is not None and known_id != now.id:
        return Loss(f"topic {topic} was deleted and made anew (its id was {known_id}, now {now.id})", dict(now.first))
    faults, start = [], {}
    for partition, offset in sorted(read_to.items()):
        if partition not in now.first:
            faults.append(f"partition {partition} is gone")
            continue
        first, end = now.first[partition], now.end[partition]
        start[partition] = min(max(offset, first), end)
        if offset < first:
            faults.append(f"partition {partition} lost the records {offset} to {first - 1}: they expired")
        elif offset > end:
            faults.append(f"partition {partition} ends at {end}, but was read to {offset}: its broker lost records")
    for partition, first in sorted(now.first.items()):
        # Spark refuses such a one for ever, unless its offset is noted.
        if read_to and partition not in read_to and first > 0:
            start[partition] = first
            faults.append(f"partition {partition} is new and lost the records 0 to {first - 1}: they expired")
    return Loss(f"topic {topic}: {'; '.join(faults)}", start) if faults else None
