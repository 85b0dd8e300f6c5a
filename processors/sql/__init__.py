"""SQL for everyone else: the process that owns the embedded store answers over ClickHouse's HTTP interface.

It speaks the part of that interface which clickhouse-connect, curl and Grafana's ClickHouse data source use, so that
analysts and screens connect to one machine's store as they do to a server.
"""
