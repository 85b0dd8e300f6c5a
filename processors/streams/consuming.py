"""Faust's way to the brokers, with one thing changed: what was not committed is never seen.

Faust reads committed records only where it runs transactions of its own, which it must not (`exactly_once` has open
bugs). The facts are written in transactions all the same, and one that was aborted left records nobody may count.
"""

from aiokafka import AIOKafkaConsumer
from faust.transport.drivers import aiokafka as driver

READ_COMMITTED = "read_committed"


class _Thread(driver.AIOKafkaConsumerThread):
    def _create_worker_consumer(self, transport: driver.Transport) -> AIOKafkaConsumer:
        consumer = super()._create_worker_consumer(transport)
        # Read when the consumer starts. The exact version of both packages is pinned, and a test reads past an
        # aborted transaction.
        consumer._isolation_level = READ_COMMITTED
        return consumer


class _Consumer(driver.Consumer):
    def _new_consumer_thread(self) -> driver.AIOKafkaConsumerThread:
        return _Thread(self, loop=self.loop, beacon=self.beacon)


class CommittedTransport(driver.Transport):
    """A transport whose consumers see committed records only."""

    Consumer = _Consumer
