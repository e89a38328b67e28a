"""A client process that can hang: consumers, and a small producer, on one connection.

`python -m tools.live_broker.hanging URL LOG PRODUCES KIND TOPIC SUB…`
"""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from tools.live_broker.load import Clients

READY = "ready"


class Hanging:
    """The process. While it hangs it reads nothing: the broker's channel to it fills."""

    def __init__(self, clients: Clients, subscriptions: Sequence[tuple[str, str]], *, produces: str = "", kind: str = "Exclusive") -> None:
        """Consume `subscriptions` (topic, subscription) of the type `kind`; publish small messages to the topic `produces`, if any."""
        words = [word for subscription in subscriptions for word in subscription]
        command = [
            sys.executable,
            "-P",
            "-m",
            "tools.live_broker.hanging",
            clients.service_url,
            f"{clients.log}.hanging",
            produces,
            kind,
            *words,
        ]
        self._process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
        assert self._process.stdout is not None
        if self._process.stdout.readline().strip() != READY:
            raise ChildProcessError(f"the client did not start: {clients.log}.hanging")

    @contextmanager
    def hangs(self) -> Iterator[None]:
        """It hangs until the end of the `with`."""
        os.kill(self._process.pid, signal.SIGSTOP)
        try:
            yield
        finally:
            os.kill(self._process.pid, signal.SIGCONT)

    def end(self) -> None:
        """Close its clients, and end it."""
        self._process.terminate()
        self._process.wait(30)

    def kill(self) -> None:
        """End it at once, also while it hangs."""
        self._process.kill()
        self._process.wait()


def main(service_url: str, log: str, produces: str, kind: str, *words: str) -> None:
    """Consume and publish until SIGTERM."""
    over = threading.Event()
    signal.signal(signal.SIGTERM, lambda number, frame: over.set())
    import pulsar

    with Clients(service_url, Path(log)).connected() as client:
        consumers = [
            client.subscribe(
                topic,
                sub,
                consumer_type=getattr(pulsar.ConsumerType, kind),
                # Of several Failover consumers of a partition the first by name is active.
                consumer_name="0-hanging",
                message_listener=lambda consumer, message: consumer.acknowledge(message),
            )
            for topic, sub in zip(words[::2], words[1::2], strict=True)
        ]
        producer = client.create_producer(produces, send_timeout_millis=0, block_if_queue_full=True) if produces else None
        print(READY, flush=True)
        while not over.is_set():
            if producer is not None:
                producer.send_async(b"small", lambda result, message_id: None)
            time.sleep(0.01)
        for consumer in consumers:
            consumer.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
