"""What every `NotifierTransport` does: the port's docstrings, as tests."""

import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import partial
from typing import Protocol, get_args

import pytest
from pydantic import SecretStr

from processors.notify.apprise_transport import AppriseTransport
from processors.notify.port import InvalidUrl, Message, NotifierTransport, Tone, TransportError
from processors.notify.recording import RecordingTransport
from processors.notify.worker import Worker
from tests.processors.notify.http_service import HttpService

PATIENCE_SECONDS = 30.0
SECRET = "secret-token"

TONES: dict[str, Tone] = {"failure": "alarm", "warning": "warning", "info": "info", "success": "relief"}
"""What a service is told by Apprise."""

MESSAGE = Message("title", "body")


class Addressee(Protocol):
    """One URL and what arrives there."""

    @property
    def url(self) -> SecretStr: ...

    def arrived(self) -> list[tuple[str, str]]: ...

    def tones(self) -> list[Tone]: ...

    def refuse(self, times: int) -> None: ...

    def hang(self) -> None: ...

    def recover(self) -> None: ...


class World(Protocol):
    """A transport, and addressees it reaches."""

    @property
    def transport(self) -> NotifierTransport: ...

    def addressee(self) -> Addressee: ...


class HttpAddressee:
    """Behind a socket."""

    def __init__(self, service: HttpService) -> None:
        self._service = service
        self.url = SecretStr(f"json://127.0.0.1:{service.port}/{SECRET}")

    def arrived(self) -> list[tuple[str, str]]:
        return [(received.title, received.message) for received in self._service.received]

    def tones(self) -> list[Tone]:
        return [TONES[received.kind] for received in self._service.received]

    def refuse(self, times: int) -> None:
        self._service.statuses += [500] * times

    def hang(self) -> None:
        self._service.open.clear()

    def recover(self) -> None:
        self._service.open.set()


class AppriseWorld:
    """Apprise, and services on loopback."""

    def __init__(self, stack: ExitStack) -> None:
        self._stack = stack
        self.transport = AppriseTransport(timeout_seconds=PATIENCE_SECONDS)

    def addressee(self) -> HttpAddressee:
        return HttpAddressee(self._stack.enter_context(HttpService().serving()))


class RecordedAddressee:
    """A place in a list."""

    def __init__(self, world: "RecordingWorld", name: str) -> None:
        self._world = world
        self.url = SecretStr(f"test://{SECRET}/{name}")
        self._text = self.url.get_secret_value()

    def arrived(self) -> list[tuple[str, str]]:
        return [(one.title, one.body) for one in self._world.transport.deliveries if one.url == self._text]

    def tones(self) -> list[Tone]:
        return [one.tone for one in self._world.transport.deliveries if one.url == self._text]

    def refuse(self, times: int) -> None:
        self._world.transport.fail(self._text, times)

    def hang(self) -> None:
        self._world.gates[self._text] = threading.Event()

    def recover(self) -> None:
        self._world.gates[self._text].set()


class RecordingWorld:
    """The transport that keeps everything."""

    def __init__(self, stack: ExitStack) -> None:
        self.gates: dict[str, threading.Event] = {}
        self.transport = RecordingTransport(self._before)
        self._count = 0

    def addressee(self) -> RecordedAddressee:
        self._count += 1
        return RecordedAddressee(self, f"addressee-{self._count}")

    def _before(self, url: str) -> None:
        if url in self.gates:
            self.gates[url].wait(PATIENCE_SECONDS)


@pytest.fixture(params=[AppriseWorld, RecordingWorld], ids=["apprise", "recording"])
def world(request: pytest.FixtureRequest) -> Iterator[World]:
    build: Callable[[ExitStack], World] = request.param
    with ExitStack() as stack:
        yield build(stack)


def test_a_message_arrives_as_it_was_written(world: World) -> None:
    addressee = world.addressee()
    text = "莊 多派 <b>&amp;</b> {bet} *stars* \\n :smile:\nsecond line · 9♥"
    world.transport.send(addressee.url, Message("危急 CRITICAL · B07", text, "alarm"))
    assert addressee.arrived() == [("危急 CRITICAL · B07", text)]


@pytest.mark.parametrize("tone", get_args(Tone))
def test_a_message_arrives_in_the_tone_that_is_meant(world: World, tone: Tone) -> None:
    addressee = world.addressee()
    world.transport.send(addressee.url, Message("title", "body", tone))
    assert addressee.tones() == [tone]


def test_a_message_goes_to_its_url_only(world: World) -> None:
    first, second = world.addressee(), world.addressee()
    world.transport.send(second.url, MESSAGE)
    assert (first.arrived(), second.arrived()) == ([], [("title", "body")])


def test_a_repeated_send_arrives_twice(world: World) -> None:
    addressee = world.addressee()
    for _ in range(2):
        world.transport.send(addressee.url, MESSAGE)
    assert len(addressee.arrived()) == 2


def test_a_refusal_raises_and_the_next_send_is_free_of_it(world: World) -> None:
    addressee = world.addressee()
    addressee.refuse(1)
    with pytest.raises(TransportError) as refused:
        world.transport.send(addressee.url, MESSAGE)
    assert SECRET not in str(refused.value)
    assert str(refused.value)
    assert addressee.arrived() == []
    world.transport.send(addressee.url, MESSAGE)
    assert len(addressee.arrived()) == 1


def test_check_accepts_what_send_reaches_and_sends_nothing(world: World) -> None:
    addressee = world.addressee()
    world.transport.check(addressee.url)
    assert addressee.arrived() == []


def test_what_is_no_url_is_refused_without_being_shown(world: World) -> None:
    bare = SecretStr(SECRET)
    with pytest.raises(InvalidUrl) as checked:
        world.transport.check(bare)
    with pytest.raises(InvalidUrl) as sent:
        world.transport.send(bare, MESSAGE)
    assert SECRET not in str(checked.value) + str(sent.value)


def test_one_url_that_hangs_holds_up_no_other(world: World) -> None:
    slow, quick = world.addressee(), world.addressee()
    slow.hang()
    worker = Worker("slow", lambda: world.transport.send(slow.url, Message("title", "slow")))
    worker.start()
    world.transport.send(quick.url, Message("title", "quick"))
    assert (slow.arrived(), quick.arrived()) == ([], [("title", "quick")])
    slow.recover()
    worker.join(PATIENCE_SECONDS)
    assert worker.error is None
    assert slow.arrived() == [("title", "slow")]


def test_many_threads_may_send_at_once(world: World) -> None:
    addressees = [world.addressee() for _ in range(4)]

    def send(url: SecretStr) -> None:
        for number in range(5):
            world.transport.send(url, Message("title", str(number)))

    workers = [Worker("sender", partial(send, addressee.url)) for addressee in addressees]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(PATIENCE_SECONDS)
        assert worker.error is None
    for addressee in addressees:
        assert addressee.arrived() == [("title", str(number)) for number in range(5)]
