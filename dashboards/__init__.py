"""What people look at: generated Grafana boards and the console."""
