"""Outcomes of a lane as frames, in which Spark takes them from Python."""

from collections.abc import Iterable

import numpy as np
import pandas as pd

from pipeline.lanes.outcome_packets import WIDE_COLUMNS, outcome_packets, with_counts
from pipeline.lanes.outcomes import encoded
from pipeline.machines.outcome import Rows
from schemas.outcomes import KINDS, PAYLOAD

#: What the lanes' operator gives: OutcomePacket and `with_counts`. Of `with_counts` 1 the driver gets the packet with the counts.
PACKET_COLUMNS = ("kind", "broker_id", "rows", "payload_bytes", "with_counts", "outcome")


def packet_frame(broker_id: int, outcomes: Iterable[Rows]) -> pd.DataFrame:
    """PACKET_COLUMNS of a lane's outcomes."""
    *numbers, outcome = zip(*outcome_packets(broker_id, outcomes), strict=True)
    columns = {name: np.array(values, dtype=np.int64) for name, values in zip(PACKET_COLUMNS, numbers, strict=False)}
    return pd.DataFrame({**columns, "with_counts": with_counts(outcome), "outcome": np.array(outcome, dtype=object)})


def output_frame(broker_id: int, rows: Rows) -> pd.DataFrame:
    """Outcome rows of one table at the common width."""
    # Column by column in memory, as Arrow takes them.
    wide = np.zeros((rows.count, len(WIDE_COLUMNS)), dtype=np.int64, order="F")
    wide[:, 0] = KINDS[rows.table]
    wide[:, 1] = broker_id
    numbers = encoded(rows.table, [rows])
    wide[:, 2 : 2 + len(numbers)] = numbers.T
    frame = pd.DataFrame(wide, columns=list(WIDE_COLUMNS), copy=False)
    frame[PAYLOAD] = np.full(rows.count, rows.payload, dtype=object)
    return frame
