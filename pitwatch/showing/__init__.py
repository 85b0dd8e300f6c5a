"""What `pitwatch show` prints of a table, a shoe or a round: JSON, and drawings for a dark terminal."""
