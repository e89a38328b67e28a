"""What the package computes of events, by columns."""

from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from schemas.ids import id_of
from schemas.packages.policy import NAMESPACE_LEVEL, NAMESPACE_OF_TOPIC


def _namespace_ids(namespaces: pa.Array, topics: pa.Array) -> pa.Array:
    found = pc.struct_field(pc.extract_regex(topics, f"(?s){NAMESPACE_OF_TOPIC.replace('(', '(?P<namespace>', 1)}"), "namespace")
    of_topics = pc.if_else(topics.is_valid(), pc.fill_null(found, ""), found)
    named = pc.coalesce(namespaces, of_topics).dictionary_encode()
    ids = [id_of(NAMESPACE_LEVEL, text) for text in named.dictionary.to_pylist()]
    return pa.array(ids, pa.int64()).take(named.indices)


VALUES = {"namespace_id": _namespace_ids}
ANSWERS: dict[str, Callable[..., Any]] = {}
