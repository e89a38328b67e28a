"""Outcomes of a lane as frames, in which Spark takes them from Python."""

from collections.abc import Iterable

import numpy as np
import pandas as pd

from pipeline.lanes.outcome_packets import outcome_packets, with_counts
from pipeline.rules.outcome import Rows

#: What the lanes' operator gives: OutcomePacket and `with_counts`. Of `with_counts` 1 the driver gets the packet with the counts.
PACKET_COLUMNS = ("kind", "broker_id", "rows", "payload_bytes", "with_counts", "outcome")


def packet_frame(broker_id: int, outcomes: Iterable[Rows]) -> pd.DataFrame:
    """PACKET_COLUMNS of a lane's outcomes."""
    *numbers, outcome = zip(*outcome_packets(broker_id, outcomes), strict=True)
    columns = {name: np.array(values, dtype=np.int64) for name, values in zip(PACKET_COLUMNS, numbers, strict=False)}
    return pd.DataFrame({**columns, "with_counts": with_counts(outcome), "outcome": np.array(outcome, dtype=object)})
