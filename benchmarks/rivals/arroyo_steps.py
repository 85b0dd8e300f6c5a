"""The job on arroyo: a task that folds and produces, and a step behind it that commits."""

from collections.abc import Mapping
from typing import Final

from arroyo.backends.kafka import KafkaConsumer, KafkaPayload, build_kafka_consumer_configuration
from arroyo.processing.processor import StreamProcessor
from arroyo.processing.strategies import CommitOffsets, ProcessingStrategy, ProcessingStrategyFactory, RunTask
from arroyo.types import BrokerValue, Commit, Message, Partition, Topic
from confluent_kafka import Producer

from benchmarks.rivals.job import OUTPUT, Arguments, Job, arguments

SECOND: Final = 1000


class _Folding(ProcessingStrategyFactory[KafkaPayload]):
    """Builds the steps; the task holds the job."""

    def __init__(self, wanted: Arguments) -> None:
        self.job = Job(wanted.topic)
        self.producer = Producer({"bootstrap.servers": wanted.bootstrap, "linger.ms": 5})

    def create_with_partitions(
        self,
        commit: Commit,
        partitions: Mapping[Partition, int],  # noqa: ARG002 - the interface's
    ) -> ProcessingStrategy[KafkaPayload]:
        return RunTask(self._fold, CommitOffsets(commit))

    def _fold(self, message: Message[KafkaPayload]) -> None:
        value = message.value
        assert isinstance(value, BrokerValue)
        payload = value.payload
        assert payload.key is not None
        stamp = int(value.timestamp.timestamp() * SECOND)
        for fact in self.job.facts_of(payload.key.decode(), payload.value, value.offset, stamp):
            while True:
                try:
                    self.producer.produce(OUTPUT, key=payload.key, value=fact)
                    break
                except BufferError:
                    self.producer.poll(0.1)
        self.producer.poll(0)


def main() -> None:
    """Run the processor until the wanted events are through."""
    wanted = arguments()
    consumer = KafkaConsumer(
        build_kafka_consumer_configuration(
            {}, group_id="rival-arroyo", auto_offset_reset="earliest", bootstrap_servers=[wanted.bootstrap]
        )
    )
    folding = _Folding(wanted)
    processor: StreamProcessor[KafkaPayload] = StreamProcessor(consumer, Topic(wanted.topic), folding)
    while folding.job.events < wanted.events:
        processor._run_once()
    folding.producer.flush()
    folding.job.report()
    processor._shutdown()


if __name__ == "__main__":
    main()
