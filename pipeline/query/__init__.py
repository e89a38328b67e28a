"""The reading room: a warehouse's tables and views, asked without Spark where delta-rs and DuckDB can read them."""
