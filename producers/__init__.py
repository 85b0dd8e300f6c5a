"""From the tables to the log: the device library, the gateway, the simulated floor and the importers."""
