"""From the event log to facts: rules, reconstruction, detection, and the runtimes that drive them."""
