"""The past of a table, told again from the event log."""
