"""The readers: each turns one kind of source into a streaming frame of parsed rows."""
