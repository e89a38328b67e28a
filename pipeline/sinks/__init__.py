"""The writers: Delta tables exactly once per micro-batch."""
