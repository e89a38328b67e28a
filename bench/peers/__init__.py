"""Side by side: what others would have written, checked row for row against ours and then measured (README.md)."""
