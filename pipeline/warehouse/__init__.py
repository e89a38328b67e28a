"""The folder of tables: where things are, who may write, and whether checkpoints still belong to the tables."""
