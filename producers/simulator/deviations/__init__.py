"""What goes wrong at a table on purpose: for each alert code a function that brings it about in a plan."""
