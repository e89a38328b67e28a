"""The driver of the streaming job: session, lock, queries from start to stop, and the record of a run."""
