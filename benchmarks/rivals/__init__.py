"""The same work on the same topic, by others: each module is a program of its own, for each has its own event loop.

``python -m benchmarks.rivals.NAME BOOTSTRAP TOPIC EVENTS`` reads that many events of the topic's only partition and
prints `{"events": n, "facts": n, "seconds": s}`. The clock runs from the first event in hand until what came of the
last one is acknowledged; joining a group and starting an interpreter count for nobody.
"""
