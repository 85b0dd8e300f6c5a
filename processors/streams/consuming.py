"""Faust's way to the brokers, with two things changed.

What was not committed is never seen. Faust reads committed records only where it runs transactions of its own, which it
must not (`exactly_once` has open bugs). The facts are written in transactions all the same, and one that was aborted
left records nobody may count.

And places are committed past what no consumer is given. Each transaction leaves a mark, which has an offset. Faust
keeps a list of such holes and, in the pinned version, misses one behind offset 0: its place then never moves again.
"""

from typing import Final

from aiokafka import AIOKafkaConsumer
from faust.transport.drivers import aiokafka as driver
from faust.types import TP

READ_COMMITTED: Final = "read_committed"


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

    async def _add_gap(self, tp: TP, offset_from: int, offset_to: int) -> None:
        """Keep no list of holes, which nothing would shorten."""

    def _new_offset(self, tp: TP) -> int | None:
        """Return the place to commit: one agent reads a topic, one message after the other, so all before is done."""
        acknowledged = self._acked[tp]
        if not acknowledged:
            return None
        place = max(acknowledged) + 1
        acknowledged.clear()
        self._acked_index[tp].clear()
        return place


class CommittedTransport(driver.Transport):
    """A transport whose consumers see committed records only, and commit past the marks between them."""

    Consumer = _Consumer
