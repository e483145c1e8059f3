"""Read what users bring: bytes to tables, tables to scores, items, responses and persons."""
