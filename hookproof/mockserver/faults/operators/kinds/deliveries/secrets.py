"""Operators on signing secrets: which of them sign after so many rolls, and until when."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final

import msgspec

from hookproof.mockserver.api.handlers.endpoints import EndpointHandlers
from hookproof.mockserver.api.service import OperationCall, OperationResult
from hookproof.mockserver.delivery.attempt.signing import SELECT_SECRETS, Signer
from hookproof.mockserver.delivery.store_port import EndpointSettings
from hookproof.mockserver.faults.catalogue.deliveries.signatures import SecretsOfAnother
from hookproof.mockserver.faults.operators.altered_fields import ABSENT, alter_place, change_at
from hookproof.mockserver.faults.operators.delivery_laws import violated_by_delivery
from hookproof.mockserver.faults.operators.delivery_places import FORMATS, ROLLS
from hookproof.mockserver.faults.operators.laws import requirements_of, violated_by_field
from hookproof.mockserver.faults.operators.operator import (
    Alteration,
    FindDefect,
    Parameters,
    operators_of,
)
from hookproof.mockserver.faults.operators.place import DELIVERY, Place, PlaceKind
from hookproof.mockserver.faults.support.altered_responses import ROLL
from hookproof.mockserver.store.endpoints import StoredSecret, decode_secrets
from hookproof.spec.dialect.model import Dialect
from hookproof.spec.dialect.signature_scheme import SignatureScheme

GROUP: Final = "secrets"
_OTHERS: Final = {
    "next": "SELECT uid FROM endpoints WHERE project = ? AND seq > ? ORDER BY seq LIMIT 1",
    "previous": "SELECT uid FROM endpoints WHERE project = ? AND seq < ? ORDER BY seq DESC LIMIT 1",
    "first": "SELECT uid FROM endpoints WHERE project = ? AND seq < ? ORDER BY seq LIMIT 1",
}
_UNITS: Final = {
    "thousandth": 1 / 1000,
    "sixtieth": 1 / 60,
    "sixtyfold": 60,
    "thousandfold": 1000,
}
# The law of a wrong end that is kept where the end is shown as wrongly.
_AS_SHOWN: Final = "expiry_meant"
_SHARES: Final = {"tenth": 0.1, "half": 0.5}

# The secrets that sign, of an endpoint that was rolled often enough; the second argument are those
# that may.
Chosen = Callable[[EndpointSettings, Sequence[str]], Sequence[str]]
# The secrets that a roll leaves, of which it has just replaced the last but one, and the time.
Ends = Callable[[list[StoredSecret], float], list[StoredSecret]]


def _is_at(place: Place) -> Callable[[EndpointSettings], bool]:
    """Tells the endpoints with the format of a place that were rolled as often as it says."""
    word, roll = place.path
    rolls = _number(roll)
    is_advanced = word == "advanced"
    return lambda endpoint: (
        endpoint.advanced_signatures is is_advanced and len(endpoint.secrets) == rolls + 1
    )


def _number(roll: str) -> int:
    return int(roll.removeprefix("roll_"))


def _scheme(place: Place, dialect: Dialect) -> SignatureScheme:
    return dialect.signatures.scheme(advanced=place.path[0] == "advanced")


def _selected(place: Place, dialect: Dialect, *secrets: str) -> Sequence[str]:
    """Those of the valid secrets, oldest first, that the dialect signs with."""
    return SELECT_SECRETS[_scheme(place, dialect).secrets](secrets)


def _signed(
    chosen: Chosen,
    wrong: Callable[[Place, Dialect], tuple[str, ...]],
    excuse: Callable[[Place, Dialect], str] = lambda _place, _dialect: "",
) -> FindDefect:
    """The defect that signs with other secrets after so many rolls."""

    def defect(place: Place, _parameters: Parameters, dialect: Dialect) -> Alteration | None:
        if place.kind is not PlaceKind.SIGNING:
            return None
        reason = excuse(place, dialect)
        return Alteration(
            part=partial(_signer, _is_at(place), chosen),
            violates=() if reason else violated_by_delivery(place, *wrong(place, dialect)),
            equivalent=reason,
        )

    return defect


def _signer(is_at: Callable[[EndpointSettings], bool], chosen: Chosen) -> type:
    class OtherSecrets(Signer):
        def valid_secrets(self, endpoint: EndpointSettings, now: float) -> Sequence[str]:
            valid = super().valid_secrets(endpoint, now)
            return chosen(endpoint, valid) if is_at(endpoint) else valid

    return OtherSecrets


def _without_newest(endpoint: EndpointSettings, valid: Sequence[str]) -> Sequence[str]:
    return valid[:-1] or [endpoint.secrets[-2].value]


def _unused(place: Place, dialect: Dialect) -> tuple[str, ...]:
    """What is wrong: a dialect that signs with the oldest secret needs the newest one later."""
    return ("unused",) if _signs_with_oldest(place, dialect) else ("unused", "unused_at_once")


def _old_as_new(_endpoint: EndpointSettings, valid: Sequence[str]) -> Sequence[str]:
    return [*valid[:-1], valid[-2]] if len(valid) > 1 else valid


def _signs_with_oldest(place: Place, dialect: Dialect) -> str:
    same = _selected(place, dialect, "old", "new") == _selected(place, dialect, "old", "old")
    return "the dialect signs with the oldest secret while there are several" if same else ""


def _foreign(place: Place, given: Parameters, _dialect: Dialect) -> Alteration | None:
    if place.kind is not PlaceKind.SIGNING:
        return None
    return Alteration(
        part=partial(_signed_by_another, _is_at(place), _OTHERS[given["which"]]),
        violates=violated_by_delivery(place, "foreign"),
    )


def _signed_by_another(is_at: Callable[[EndpointSettings], bool], query: str) -> type:
    class AnotherEndpointsSecrets(SecretsOfAnother):
        other = query

        def alter_settings(self, endpoint: EndpointSettings) -> EndpointSettings:
            return super().alter_settings(endpoint) if is_at(endpoint) else endpoint

    return AnotherEndpointsSecrets


def _other_end(
    ends: Callable[[Parameters], Ends],
    wrong: Callable[[Parameters], tuple[str, ...]],
    *,
    rolls: int,
) -> FindDefect:
    """The defect of when old secrets end, from so many rolls on; what is shown stays right."""

    def defect(place: Place, given: Parameters, dialect: Dialect) -> Alteration | None:
        if place.kind is not PlaceKind.SIGNING or _number(place.path[1]) < rolls:
            return None
        reason = _signs_with_newest(place, dialect)
        return Alteration(
            part=partial(_with_other_ends, place, ends(given)),
            violates=() if reason else violated_by_delivery(place, *wrong(given)),
            equivalent=reason,
        )

    return defect


def _signs_with_newest(place: Place, dialect: Dialect) -> str:
    same = _selected(place, dialect, "old", "new") == _selected(place, dialect, "new")
    return "the dialect signs with the newest secret alone" if same else ""


def _with_other_ends(place: Place, ends: Ends) -> type:
    is_advanced, rolls = place.path[0] == "advanced", _number(place.path[1])

    class OtherEnds(EndpointHandlers):
        def expire_secret(self, call: OperationCall) -> OperationResult:
            now = self._service.now()
            result = super().expire_secret(call)
            row = self._find(call)
            secrets = decode_secrets(row.secrets)
            document = msgspec.json.decode(row.document)
            if document["advanced_signatures"] is is_advanced and len(secrets) == rolls + 1:
                self._service.endpoints.roll(row.seq, ends(secrets, now), updated_at=row.updated_at)
            return result

    return OtherEnds


def _moved(factor: float) -> Ends:
    """The secret that the roll has replaced ends at another share of the time."""

    def ends(secrets: list[StoredSecret], now: float) -> list[StoredSecret]:
        *older, replaced, newest = secrets
        end = now + ((replaced.ends or now) - now) * factor
        return [*older, msgspec.structs.replace(replaced, ends=end), newest]

    return ends


def _reset(to: str) -> Ends:
    """The secrets that earlier rolls replaced end now, or with the one replaced last."""

    def ends(secrets: list[StoredSecret], now: float) -> list[StoredSecret]:
        *older, replaced, newest = secrets
        end = now if to == "now" else replaced.ends
        return [*(msgspec.structs.replace(one, ends=end) for one in older), replaced, newest]

    return ends


def _in_another_unit(place: Place, given: Parameters, dialect: Dialect) -> Alteration | None:
    if (place.operation, place.kind, place.path) != (ROLL, PlaceKind.TAKEN, ("expiration",)):
        return None
    factor = _UNITS[given["factor"]]
    wrong = "late" if factor > 1 else "early"

    def change(value: Any) -> Any:
        return value if value is ABSENT else value * factor

    violates = {
        *violated_by_field(place, change, dialect),
        *(
            name
            for word in FORMATS
            if not _signs_with_newest(signed := _after_a_roll(word), dialect)
            for name in violated_by_delivery(signed, wrong)
        ),
    } - {*requirements_of(_AS_SHOWN)}
    part = partial(alter_place, place, change_at(place.path, change))
    return Alteration(part=part, violates=requirements_of(*violates))


def _after_a_roll(word: str) -> Place:
    return Place(operation=DELIVERY, kind=PlaceKind.SIGNING, path=(word, ROLLS[0]))


_SIGNED: Final = "signatures in each format, after each number of rolls"
_operator: Final = operators_of(GROUP)
OPERATORS: Final = (
    _operator(
        "newest_secret_unused",
        "After so many rolls the newest secret does not sign",
        _SIGNED,
        _signed(_without_newest, _unused),
    ),
    _operator(
        "old_secret_as_new",
        "While several secrets are valid, an old one signs in the place of the newest",
        _SIGNED,
        _signed(_old_as_new, lambda _place, _dialect: ("mislabelled",), _signs_with_oldest),
    ),
    _operator(
        "secret_of_another",
        "After so many rolls another endpoint's secrets sign",
        _SIGNED,
        _foreign,
        *({"which": which} for which in _OTHERS),
    ),
    _operator(
        "expiry_early",
        "An old secret stops signing before its time, by a share of it",
        _SIGNED,
        _other_end(lambda given: _moved(1 - _SHARES[given["by"]]), lambda _: ("early",), rolls=1),
        *({"by": share} for share in _SHARES),
    ),
    _operator(
        "expiry_late",
        "An old secret signs longer than its time, by a share of it",
        _SIGNED,
        _other_end(lambda given: _moved(1 + _SHARES[given["by"]]), lambda _: ("late",), rolls=1),
        *({"by": share} for share in _SHARES),
    ),
    _operator(
        "expiry_reset",
        "A further roll ends the secrets of earlier ones, at once or with the one it replaces",
        "signatures in each format, after two rolls and more",
        _other_end(
            lambda given: _reset(given["to"]),
            lambda given: ("early",) if given["to"] == "now" else ("early", "late"),
            rolls=2,
        ),
        {"to": "now"},
        {"to": "latest"},
    ),
    _operator(
        "expiry_in_another_unit",
        "The expiration of a roll is read in another unit",
        "the expiration, taken",
        _in_another_unit,
        *({"factor": name} for name in _UNITS),
    ),
)
