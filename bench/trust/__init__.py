"""How often a verdict is right, by its cause and by how sure it is: logs with a known truth, many questions, a table.

docs/design/causes.md shows the table.
"""
