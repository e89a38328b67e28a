"""Packets: events as their lanes want them, packed by the task that writes them to bronze."""
