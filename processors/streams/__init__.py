"""The Faust worker's parts: what joins the pure `processors.live`, the log and the notifier to Faust's streams."""
