"""Writes the files of this repository that are generated from declarations: `python -m generators` writes all of them anew."""
