"""A load profile: what is sent, how fast and how long; the shipped ones are in `profiles/`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import resources
from pathlib import Path
from typing import Any, Final

from hookproof.load.profile.schedule import Point, RateCurve, problems_of
from hookproof.load.profile.thresholds import BadThreshold, Threshold, form_of_thresholds
from hookproof.spec.contract.service_contract import OPERATION_IDS
from hookproof.spec.strict_yaml.reader import FileProblems, Problem, read_yaml
from hookproof.spec.strict_yaml.schema_wording import did_you_mean

HIGHEST_RATE: Final = 100_000
LONGEST_S: Final = 86_400
MOST_USERS: Final = 4096
MOST_ENDPOINTS: Final = 20_000

_SECONDS: Final = {"type": "number", "minimum": 0, "maximum": LONGEST_S}
_SOME_SECONDS: Final = {"type": "number", "exclusiveMinimum": 0, "maximum": LONGEST_S}
_RATE: Final = {"type": "number", "exclusiveMinimum": 0, "maximum": HIGHEST_RATE}


def _object(required: list[str], **properties: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "additionalProperties": False,
        "required": required,
        "properties": properties,
    }


_ENDPOINTS: Final = _object(
    [],
    count={"type": "integer", "minimum": 1, "maximum": MOST_ENDPOINTS},
    limited={"type": "integer", "minimum": 0, "maximum": MOST_ENDPOINTS},
    rate_limit={"type": "integer", "minimum": 1, "maximum": HIGHEST_RATE},
    rate_limit_duration_s={"type": "integer", "minimum": 1, "maximum": LONGEST_S},
    advanced_signatures={"type": "boolean"},
    http_timeout_s={"type": "integer", "minimum": 1, "maximum": LONGEST_S},
)
_REPLY: Final = _object(
    [],
    status={"type": "integer", "minimum": 200, "maximum": 599},
    delay_s=_SECONDS,
    hang={"type": "boolean"},
)
_TROUBLE: Final = _object(
    ["endpoints", "from_s", "to_s", "reply"],
    endpoints={"type": "integer", "minimum": 1, "maximum": MOST_ENDPOINTS},
    from_s=_SECONDS,
    to_s=_SOME_SECONDS,
    reply=_REPLY,
)

SCHEMA: Final[dict[str, Any]] = _object(
    ["name", "summary", "rate", "duration_s", "users", "drain_s", "fail_if"],
    name={"type": "string"},
    summary={"type": "string"},
    rate=_RATE,
    duration_s=_SOME_SECONDS,
    users={"type": "integer", "minimum": 1, "maximum": MOST_USERS},
    drain_s=_SECONDS,
    drain_at_most_s=_SECONDS,
    late_after_s=_SOME_SECONDS,
    keep_up_s=_SOME_SECONDS,
    points={
        "type": "array",
        "items": {
            "type": "array",
            "prefixItems": [_SECONDS, {**_RATE, "exclusiveMinimum": -1e-9}],
            "minItems": 2,
        },
    },
    spike=_object(
        ["times", "from_s", "to_s"],
        times={"type": "number", "exclusiveMinimum": 1, "maximum": 1000},
        from_s=_SECONDS,
        to_s=_SECONDS,
    ),
    mix={
        "type": "object",
        "minProperties": 1,
        "propertyNames": {"enum": list(OPERATION_IDS)},
        "additionalProperties": {"type": "number", "exclusiveMinimum": 0},
    },
    payload_bytes={"type": "integer", "minimum": 0, "maximum": 1_000_000},
    endpoints=_ENDPOINTS,
    roll=_object(
        ["every_s", "expiration_s"],
        every_s=_SOME_SECONDS,
        expiration_s={"type": "integer", "minimum": 1},
    ),
    trouble={"type": "array", "items": _TROUBLE},
    search=_object(
        ["most", "within"],
        most=_RATE,
        within={"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1},
    ),
    fail_if={"type": "array", "items": {"type": "string"}},
)


def profile_schema() -> dict[str, Any]:
    """The schema for editors; the reader itself has more to say about a bad threshold."""
    threshold = {"type": "string", "pattern": form_of_thresholds()}
    properties = {**SCHEMA["properties"], "fail_if": {"type": "array", "items": threshold}}
    return {**SCHEMA, "properties": properties}


BROADCAST: Final = "createBroadcastEvent"
CREATION: Final = "createEndpoint"
# What no service may do to a delivery, whatever a run is about: these figures are limited in each
# profile that does not limit them itself (sections 1 and 6).
ALWAYS_JUDGED: Final = ("duplicated", "altered", "unverifiable")
# The longest drain of a profile that does not say one, as a multiple of `drain_s`.
LONGEST_DRAIN: Final = 5
# The sidecar keeps two bytes for each of them.
MOST_DELIVERIES: Final = 200_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadEndpointSettings:
    """How many endpoints a run has, and how many of them are limited (sections 2.3 and 8).

    `http_timeout_s` is how long a delivery to them may take, None for the target's own default.
    """

    count: int = 1
    limited: int = 0
    rate_limit: int = 0
    rate_limit_duration_s: int = 0
    advanced_signatures: bool = False
    http_timeout_s: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RollSettings:
    """How often secrets are rolled during a run, and when the old ones expire (section 4.3)."""

    every_s: float
    expiration_s: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Trouble:
    """A period in which a number of endpoints do not answer with success.

    `reply` is as in the receiver's script: `status`, `delay_s`, `hang`.
    """

    endpoints: int
    from_s: float
    to_s: float
    reply: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Search:
    """A search for the highest rate that crosses no threshold, up to `most`.

    It ends when the interval is narrower than the share `within` of the rate.
    """

    most: float
    within: float


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadProfile:
    """A load profile; `rate` is slots a second, `users` the most requests in flight.

    Durations are in seconds. `mix` weighs operations by operationId; each slot is one of them.
    A broadcast's `data` is `payload`, or of about `payload_bytes`; a delivery that arrives later
    than `late_after_s` counts as late. Deliveries may take `drain_s` after the last answer, and as
    long as others arrive, `drain_at_most_s`. A generator that sends one of a hundred requests more
    than `keep_up_s` late did not keep up.
    """

    name: str
    summary: str
    rate: float
    duration_s: float
    users: int
    drain_s: float
    drain_at_most_s: float | None
    late_after_s: float
    keep_up_s: float
    shape: RateCurve
    mix: Mapping[str, float]
    payload_bytes: int
    payload: Mapping[str, Any] | None = None
    endpoints: LoadEndpointSettings
    roll: RollSettings | None
    trouble: tuple[Trouble, ...]
    search: Search | None
    fail_if: tuple[Threshold, ...]

    @classmethod
    def of(cls, content: Mapping[str, Any]) -> "LoadProfile":
        """The profile in a file that agrees with `SCHEMA`; raises ValueError for other problems."""
        shape = _shape(content)
        endpoints = LoadEndpointSettings(**content.get("endpoints", {}))
        trouble = tuple(Trouble(**period) for period in content.get("trouble", ()))
        if endpoints.limited and not (endpoints.rate_limit and endpoints.rate_limit_duration_s):
            raise ValueError("endpoints: limited ones need rate_limit and rate_limit_duration_s")
        if any(period.from_s >= period.to_s for period in trouble):
            raise ValueError("trouble: from_s comes before to_s")
        _bound(shape, endpoints, trouble)
        return cls(
            name=content["name"],
            summary=content["summary"],
            rate=content["rate"],
            duration_s=shape.duration_s,
            users=content["users"],
            drain_s=content["drain_s"],
            drain_at_most_s=content.get("drain_at_most_s"),
            late_after_s=content.get("late_after_s", 1.0),
            keep_up_s=content.get("keep_up_s", 0.25),
            shape=shape,
            mix=content.get("mix", {BROADCAST: 1}),
            payload_bytes=content.get("payload_bytes", 0),
            endpoints=endpoints,
            roll=RollSettings(**content["roll"]) if "roll" in content else None,
            trouble=trouble,
            search=Search(**content["search"]) if "search" in content else None,
            fail_if=_thresholds(content["fail_if"]),
        )

    @property
    def longest_drain_s(self) -> float:
        """The bound of the wait for deliveries that still arrive, from the last answer."""
        if self.drain_at_most_s is None:
            return LONGEST_DRAIN * self.drain_s
        return max(self.drain_s, self.drain_at_most_s)

    def at_rate(self, rate: float) -> "LoadProfile":
        return self.overridden(rate=rate)

    def for_workers(self, workers: int) -> "LoadProfile":
        """The profile for so many workers; each has at least one endpoint of its own.

        Rate, users and endpoints are those of all together. Raises ValueError for more workers than
        users.
        """
        if self.users < workers:
            raise ValueError(
                f"{workers} workers need a user each; {self.users} are too few (--users)"
            )
        endpoints = replace(self.endpoints, count=max(self.endpoints.count, workers))
        _bound(self.shape, endpoints, self.trouble)
        return replace(self, endpoints=endpoints)

    def overridden(
        self,
        *,
        rate: float | None = None,
        duration_s: float | None = None,
        users: int | None = None,
        drain_s: float | None = None,
        drain_at_most_s: float | None = None,
        keep_up_s: float | None = None,
        endpoints: int | None = None,
        payload: Mapping[str, Any] | None = None,
        fail_if: tuple[Threshold, ...] = (),
    ) -> "LoadProfile":
        """The profile with the options of the command line; its rate and duration are scaled.

        Raises ValueError for a run beyond the bounds.
        """
        rate = self.rate if rate is None else rate
        duration_s = self.duration_s if duration_s is None else duration_s
        wider, higher = duration_s / self.duration_s, rate / self.rate
        shape = RateCurve(
            points=tuple(
                Point(at_s=point.at_s * wider, rate=point.rate * higher)
                for point in self.shape.points
            )
        )
        trouble = tuple(
            replace(period, from_s=period.from_s * wider, to_s=period.to_s * wider)
            for period in self.trouble
        )
        count = self.endpoints.count if endpoints is None else endpoints
        placed = replace(self.endpoints, count=count)
        _bound(shape, placed, trouble)
        return replace(
            self,
            rate=rate,
            duration_s=duration_s,
            users=self.users if users is None else users,
            drain_s=self.drain_s if drain_s is None else drain_s,
            drain_at_most_s=self.drain_at_most_s if drain_at_most_s is None else drain_at_most_s,
            keep_up_s=self.keep_up_s if keep_up_s is None else keep_up_s,
            shape=shape,
            endpoints=placed,
            payload=payload,
            trouble=trouble,
            fail_if=(*self.fail_if, *fail_if),
        )


def shipped_profiles() -> tuple[str, ...]:
    return tuple(
        sorted(
            path.name.removesuffix(".yaml")
            for path in _folder().iterdir()
            if path.suffix == ".yaml"
        )
    )


def load_profile(name_or_path: str) -> LoadProfile:
    """A shipped profile by its name, or another one by its path; raises FileProblems."""
    if "/" in name_or_path or name_or_path.endswith((".yaml", ".yml")):
        path = Path(name_or_path)
    elif name_or_path in shipped_profiles():
        path = _folder() / f"{name_or_path}.yaml"
    else:
        message = (
            f"no profile has this name; expected a path or one of: {', '.join(shipped_profiles())}"
            f"{did_you_mean(name_or_path, shipped_profiles())}"
        )
        raise FileProblems(name_or_path, [Problem(line=None, where="", message=message)])
    try:
        return LoadProfile.of(read_yaml(path, SCHEMA))
    except (ValueError, BadThreshold) as problem:
        raise FileProblems(
            str(path), [Problem(line=None, where="", message=str(problem))]
        ) from None


def _shape(content: Mapping[str, Any]) -> RateCurve:
    rate, duration_s = content["rate"], content["duration_s"]
    if "points" in content:
        points = tuple(Point(at_s=at_s, rate=height) for at_s, height in content["points"])
        for problem in problems_of(points):
            raise ValueError(f"points: {problem}")
        return RateCurve(points=points)
    if "spike" in content:
        spike = content["spike"]
        if not 0 <= spike["from_s"] < spike["to_s"] <= duration_s:
            raise ValueError("spike: from_s comes before to_s, and both within duration_s")
        return RateCurve.spike(rate, duration_s, **spike)
    return RateCurve.steady(rate, duration_s)


def _bound(shape: RateCurve, endpoints: LoadEndpointSettings, trouble: Sequence[Trouble]) -> None:
    if endpoints.limited > endpoints.count:
        raise ValueError("endpoints: limited is more than count")
    if sum(period.endpoints for period in trouble) > endpoints.count:
        raise ValueError("trouble: it needs more endpoints than there are")
    for problem in problems_of(shape.points):
        raise ValueError(f"rate and duration: {problem}")
    if shape.slots * endpoints.count > MOST_DELIVERIES:
        raise ValueError(f"rate, duration and endpoints: more than {MOST_DELIVERIES:,} deliveries")


def _thresholds(texts: list[str]) -> tuple[Threshold, ...]:
    """The thresholds of a profile, with those that it leaves out of ALWAYS_JUDGED."""
    written = [Threshold.parse(text) for text in texts]
    named = {threshold.figure for threshold in written}
    missing = [Threshold.parse(f"{name} > 0") for name in ALWAYS_JUDGED if name not in named]
    return (*written, *missing)


def _folder() -> Path:
    return Path(str(resources.files("hookproof.load") / "profiles"))
