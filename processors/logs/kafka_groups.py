"""Who works for a group now, as the cluster knows it.

By the older of librdkafka's two requests, which its Python package calls deprecated: the newer one asks the group's
coordinator, and ends the whole process when the answer comes after its time (see kafka_positions.py).
"""

from processors.logs.kafka_clients import Clients


def members(clients: Clients, group: str) -> list[str]:
    """Return the names of those who work for a group, with their hosts; none where nobody does.

    One that was killed is still among them until its session is over. Raises `LogUnavailable`.
    """
    with clients.told(f"see who works for group {group}"):
        found = clients.admin().list_groups(group, timeout=clients.timeout_seconds)
    return sorted(f"{one.client_id} ({str(one.client_host).strip('/')})" for known in found for one in known.members)
