"""The commands: a file each, with its arguments and its exit status."""
