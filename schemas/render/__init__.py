"""Renderers: the declared tables and events as Spark types, Delta DDL, Arrow schemas and Markdown."""
