"""The device gateway: tables post their events over HTTP, and an answer means that the log has them."""
