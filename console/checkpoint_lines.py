"""The content of a checkpoint for a person."""

import json
from collections.abc import Iterable
from typing import Any


def checkpoint_lines(document: dict[str, Any]) -> Iterable[str]:
    """For a person: whether it fits first, what to do last."""
    yield f"checkpoint  {document['folder']}, {document['bytes']:,} bytes"
    yield f"fits        {'no: ' + document['refused'] if document['refused'] else 'yes: stream goes on from here'}"
    yield f"query       {document['query_id'] or 'none'}"
    yield f"planned     {document['planned'] if document['planned'] is not None else 'nothing'}"
    yield f"committed   {document['committed'] if document['committed'] is not None else 'nothing'}"
    for name, offset in (document["sources"] or {}).items():
        yield f"source      {name}: {json.dumps(offset)}"
    state = document["state"]
    if state is not None:
        formats = ", ".join(state["formats"]) or "no lane yet"
        yield f"state       {state['bytes']:,} bytes on disk, {state['partitions']} partitions, {state['store']}"
        yield f"            {state['lanes']} lanes: {formats}; this program reads {state['readable_format']}"
    yield f"anew with   {document['rebuild']}"
