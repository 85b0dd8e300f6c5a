"""Alerts to people: which route takes which alert, what a phone shows, and a send queue that outlives a crash."""
