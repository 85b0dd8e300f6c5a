"""`pitwatch demo` in parts: the floor it plans, its pace, its run, how it is shown, and what is said at the end."""
