"""The terminal: arguments of commands, and answers as people see them."""
