"""How commands log: as every process of Pitwatch does."""

from processors.structured_logs import configure_logs

__all__ = ["configure_logs"]
