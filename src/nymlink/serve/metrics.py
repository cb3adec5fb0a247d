"""What a server tells Prometheus."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_LATEST

_SECONDS: Final = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)


class Metrics:
    """Counts of one server, apart from those of any other in the process."""

    content_type: Final = CONTENT_TYPE_LATEST

    def __init__(self) -> None:
        self._registry = registry = CollectorRegistry()
        self._requests = Counter(
            "nymlink_requests", "Requests answered.", ["method", "route", "status"], registry=registry
        )
        self._seconds = Histogram(
            "nymlink_request_seconds", "Time to answer a request.", ["route"], buckets=_SECONDS, registry=registry
        )
        self._mentions = Counter("nymlink_mentions", "Mentions linked.", ["index"], registry=registry)
        self._waiting = Gauge(
            "nymlink_waiting_mentions", "Mentions that wait to be linked.", ["index"], registry=registry
        )
        self._claimed = Gauge(
            "nymlink_claimed_bytes", "Memory that requests have claimed, of --memory.", registry=registry
        )
        self.open_requests = Gauge("nymlink_open_requests", "Requests being worked on.", registry=registry)

    def note_request(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count a request that was answered."""
        self._requests.labels(method, route, str(status)).inc()
        self._seconds.labels(route).observe(seconds)

    def note_mentions(self, index: str, mentions: int) -> None:
        """Count mentions that were linked to an index."""
        self._mentions.labels(index).inc(mentions)

    def watch_waiting(self, index: str, waiting: Callable[[], int]) -> None:
        """Ask how many mentions wait whenever the metrics are read."""
        self._waiting.labels(index).set_function(waiting)

    def watch_memory(self, claimed: Callable[[], int]) -> None:
        """Ask how much memory is claimed whenever the metrics are read."""
        self._claimed.set_function(claimed)

    def text(self) -> bytes:
        """Write all of them for Prometheus."""
        return generate_latest(self._registry)
