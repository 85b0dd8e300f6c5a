"""From one table's events to its facts: put in order, folded, and revised when the past turns out otherwise. Pure."""
