"""Where facts and events are kept for querying: the port, its ClickHouse implementation, and the sink that fills it."""
