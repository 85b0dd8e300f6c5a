"""The event log's implementations, and the lock on the folder that an embedded floor lives in."""
