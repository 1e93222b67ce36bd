"""Faults that are armed and disarmed while the server runs.

An answering fault is armed for the next so many requests, or for a share of them that a seed
decides: the same seed spoils the same requests of a sequence again. A fault of the catalogue is
there until all are disarmed: the server's parts are joined anew with it, around the same database.
"""

import asyncio
import random
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

import msgspec
from aiohttp.web_request import BaseRequest

from hookproof.mockserver.api.response import ApiResponse, Responder
from hookproof.mockserver.faults.answering import FAULTS, AnsweringFault
from hookproof.mockserver.faults.registry import Fault, catalogue
from hookproof.spec.dialect.model import Dialect


class Order(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """What the control listener is told: a fault by name, its parameters, and when it strikes.

    `next` counts requests, `rate` is a share of them from 0 to 1, decided by `seed`; without either
    it strikes always. `path` narrows it to requests whose path holds that text.
    """

    fault: str
    next: int | None = None
    rate: float | None = None
    seed: int = 0
    path: str = ""
    delay_s: float | None = None
    status: int | None = None

    def parameters(self) -> dict[str, Any]:
        """What the fault itself is made with."""
        given = {"delay_s": self.delay_s, "status": self.status}
        return {name: value for name, value in given.items() if value is not None}


class BadOrder(ValueError):
    """An order that cannot be carried out; the text says why, in one line."""


@dataclass(slots=True)
class Armed:
    """A fault that waits for requests."""

    order: Order
    fault: AnsweringFault
    chance: random.Random
    left: int | None

    @classmethod
    def of(cls, order: Order) -> "Armed":
        """Make the fault ready; raises BadOrder."""
        if order.fault not in FAULTS:
            near = get_close_matches(order.fault, [*FAULTS, *catalogue()], n=3)
            hint = (
                f"did you mean {' or '.join(near)}?"
                if near
                else f"{', '.join(FAULTS)} spoil answers"
            )
            raise BadOrder(
                f"there is no fault {order.fault!r}; {hint} `hookproof serve --list-faults` names all"
            )
        if order.next is not None and order.next < 1:
            raise BadOrder("next is a number of requests from 1 up")
        if order.rate is not None and not 0 <= order.rate <= 1:
            raise BadOrder("rate is a share from 0 to 1")
        try:
            fault = FAULTS[order.fault](**order.parameters())
        except TypeError:
            raise BadOrder(f"{order.fault} does not take {', '.join(order.parameters())}") from None
        return cls(order=order, fault=fault, chance=random.Random(order.seed), left=order.next)

    def strikes(self, path: str) -> bool:
        """Whether it strikes this request, which is then counted."""
        if self.order.path not in path or self.left == 0:
            return False
        if self.order.rate is not None and self.chance.random() >= self.order.rate:
            return False
        if self.left is not None:
            self.left -= 1
        return True


# Joins the server's parts anew with these faults of the catalogue; the API that came of it.
JoinAnew = Callable[[Sequence[Fault]], Awaitable[Responder]]


class LiveFaults:
    """Stands between the listener and the API; while nothing is armed, requests go straight
    through.
    """

    def __init__(self, api: Responder, dialect: Dialect, join_anew: JoinAnew) -> None:
        self._clean = api
        self._api = api
        self._dialect = dialect
        self._join_anew = join_anew
        self._armed: list[Armed] = []
        self._catalogued: list[Fault] = []
        self._joining = asyncio.Lock()

    def answer(self, request: BaseRequest) -> Awaitable[ApiResponse]:
        """The answer of the first fault that strikes, or the API's own."""
        if self._armed:
            for armed in self._armed:
                if armed.strikes(request.path_qs):
                    return armed.fault.answer(request, self._api.answer)
        return self._api.answer(request)

    async def arm(self, order: Order) -> None:
        """Add a fault; raises BadOrder."""
        one = catalogue().get(order.fault)
        if one is None:
            self.arm_answering(order)
            return
        if order != Order(fault=order.fault):
            raise BadOrder(f"{order.fault} is there or not: it takes no further member")
        if not one.applies(self._dialect):
            raise BadOrder(f"{order.fault} is no fault under the dialect {self._dialect.name}")
        async with self._joining:
            if one not in self._catalogued:
                self._api = await self._join_anew([*self._catalogued, one])
                self._catalogued.append(one)

    def arm_answering(self, order: Order) -> None:
        """Add a fault that spoils answers; raises BadOrder."""
        self._armed.append(Armed.of(order))

    async def disarm(self) -> None:
        """Behave again."""
        self._armed.clear()
        async with self._joining:
            if self._catalogued:
                await self._join_anew([])
                self._catalogued.clear()
                self._api = self._clean

    def shown(self) -> list[dict[str, Any]]:
        """What is armed, with the strikes that are left (null: no end)."""
        return [
            *({**msgspec.to_builtins(armed.order), "left": armed.left} for armed in self._armed),
            *({"fault": one.name, "broken": one.broken} for one in self._catalogued),
        ]
