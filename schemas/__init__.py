"""What rows look like: declared once, rendered for Spark, Delta, documentation and the parser. Knows no rule, starts no engine."""
