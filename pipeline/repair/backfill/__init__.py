"""Compute closed dates anew, compare, and swap what differs."""
