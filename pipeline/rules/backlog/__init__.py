"""How far behind: ledgers, cursors, backlog sizes and ages, quota checks and what they decide (PIP-323)."""
