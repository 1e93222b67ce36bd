"""Counters in the Prometheus text format, read on request from the journals, which count anyway."""

from collections.abc import Iterator
from typing import Final

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.exposition import CONTENT_TYPE_LATEST
from prometheus_client.process_collector import ProcessCollector
from prometheus_client.registry import Collector

from hookproof.mockserver.api.request_journal import RequestJournal
from hookproof.mockserver.notifications.journal import NotificationJournal
from hookproof.mockserver.store.delivery_journal import DeliveryJournal

CONTENT_TYPE: Final = CONTENT_TYPE_LATEST


def render_metrics(
    journal: RequestJournal, deliveries: DeliveryJournal, notifications: NotificationJournal
) -> bytes:
    registry = CollectorRegistry()
    ProcessCollector(registry=registry)
    registry.register(_Collector(journal, deliveries, notifications))
    return generate_latest(registry)


class _Collector(Collector):
    def __init__(
        self,
        journal: RequestJournal,
        deliveries: DeliveryJournal,
        notifications: NotificationJournal,
    ) -> None:
        self._journal = journal
        self._deliveries = deliveries
        self._notifications = notifications

    def collect(self) -> Iterator[Metric]:
        requests = CounterMetricFamily(
            "hookproof_requests", "Requests to the API.", labels=("operation", "status")
        )
        for (operation, status), count in self._journal.counts.items():
            requests.add_metric((operation or "none", str(status)), count)
        yield requests
        states = GaugeMetricFamily(
            "hookproof_deliveries", "Deliveries by state.", labels=("state",)
        )
        for state, count in self._deliveries.counts().items():
            states.add_metric((state,), count)
        yield states
        notifications = CounterMetricFamily(
            "hookproof_notifications",
            "Notifications by channel and how they ended.",
            labels=("channel", "state"),
        )
        for labels, count in self._notifications.counts.items():
            notifications.add_metric(labels, count)
        yield notifications
        yield CounterMetricFamily(
            "hookproof_notifications_held_back",
            "Notifications that were held back by their rate limit.",
            value=self._notifications.held_back,
        )
