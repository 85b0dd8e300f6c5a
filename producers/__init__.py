"""From tables to the log: the device gateway, the publisher with its outbox, importers and the simulated floor."""
