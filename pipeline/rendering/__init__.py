"""Writes what is rendered out of the rules into the repository."""
