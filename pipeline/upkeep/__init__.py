"""Looking after a warehouse: what state it is in, how its files stay few and its disk small."""
