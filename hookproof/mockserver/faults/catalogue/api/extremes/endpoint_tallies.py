"""What endpoints count of their events and failures, and words of sources (sections 2.3, 2.9)."""

from hookproof.mockserver.api.service import OperationCall
from hookproof.mockserver.faults.registry import fault
from hookproof.mockserver.faults.support.altered_responses import (
    GET_ENDPOINT,
    LIST_SOURCES,
    ON_ENDPOINTS,
    AlteredResponses,
    Object,
)
from hookproof.spec.dialect.model import Dialect
from hookproof.spec.dialect.vocabulary import EventCount


def events_that_reach_are_counted(dialect: Dialect) -> bool:
    return dialect.representation.event_count.prefers(EventCount.REACHED)


@fault("rate_in_bounds", seen="a percentage of a percentage", shows_in=["exhaustion"])
class FailureRateTimesHundred(AlteredResponses):
    """The failure_rate of an endpoint is a hundred times as high."""

    operations = ON_ENDPOINTS

    def alter_resource(self, call: OperationCall, resource: Object) -> Object:
        return {**resource, "failure_rate": resource["failure_rate"] * 100}


@fault(
    "events_counted",
    seen="a column that is never increased",
    shows_in=["exhaustion"],
    where=events_that_reach_are_counted,
)
class EventsNotCounted(AlteredResponses):
    """A fetched endpoint counts no events."""

    operations = (GET_ENDPOINT,)

    def alter_resource(self, call: OperationCall, resource: Object) -> Object:
        return {**resource, "events": 0}


@fault("listed_word@listSources.verifier.hmac.encoding", shows_in=["isolation"])
class EncodingsInCapitals(AlteredResponses):
    """The hmac encoding of a source's verifier is written in capitals."""

    operations = (LIST_SOURCES,)

    def alter_resource(self, call: OperationCall, resource: Object) -> Object:
        verifier = resource.get("verifier") or {}
        hmac = verifier.get("hmac")
        if not hmac:
            return resource
        shown = {**hmac, "encoding": hmac["encoding"].upper()}
        return {**resource, "verifier": {**verifier, "hmac": shown}}


@fault("listed_word@listSources.pub_sub.kafka.auth.type", shows_in=["isolation"])
class KafkaTypesInCapitals(AlteredResponses):
    """The auth type of a source's Kafka topic is written in capitals."""

    operations = (LIST_SOURCES,)

    def alter_resource(self, call: OperationCall, resource: Object) -> Object:
        topic = (resource.get("pub_sub") or {}).get("kafka") or {}
        auth = topic.get("auth")
        if not auth:
            return resource
        shown = {**topic, "auth": {**auth, "type": auth["type"].upper()}}
        return {**resource, "pub_sub": {**resource["pub_sub"], "kafka": shown}}
