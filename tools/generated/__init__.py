"""Writes the files of this repository that are generated from declarations."""
