"""The rules: pure functions over flat int64 arrays. No Spark, clock, randomness or I/O."""
