"""Answers over HTTP: the tables of one warehouse, read only, without Spark."""
