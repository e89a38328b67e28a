"""How fast the pipeline is, as ratios to plain Spark work on the same rows in the same run."""
