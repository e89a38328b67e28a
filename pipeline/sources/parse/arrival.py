"""`arrival` of events that are columns (schemas/arrival.py)."""

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from schemas.arrival import LINE_MASK, file_place


def arrivals(source_file: pa.Array, source_line: pa.Array) -> npt.NDArray[np.int64]:
    """Where each event is in the order in which events of one micro-batch of ingest arrived."""
    files = source_file.dictionary_encode()
    places = np.array([*map(file_place, files.dictionary.to_pylist()), file_place(None)], dtype=np.int64)
    of_file = pc.fill_null(files.indices, len(places) - 1).to_numpy(zero_copy_only=False)
    lines = pc.fill_null(source_line, 0).to_numpy(zero_copy_only=False)
    found: npt.NDArray[np.int64] = places[of_file] + (lines & LINE_MASK)
    return found
