"""Order, duplicates, gaps, epochs and windows of one broker; the Spark operator that drives the rules."""
