"""Files into the log: hands that somebody wrote down, and events that a table or another log kept."""
