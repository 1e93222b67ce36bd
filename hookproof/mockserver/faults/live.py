"""Faults that are armed and disarmed while the server runs.

A responder fault is armed for a number of requests, or for a share of them that a seed decides:
the same seed affects the same requests of a sequence again. A fault of the catalogue stays until
all are disarmed: the server is assembled again with it, around the same database.
"""

import asyncio
import random
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import partial
from inspect import signature
from typing import Any

import msgspec
from aiohttp.web_request import BaseRequest

from hookproof.mockserver.api.response import ApiResponse, Responder
from hookproof.mockserver.faults.answering import FAULTS, ResponderFault
from hookproof.mockserver.faults.catalogue import catalogue
from hookproof.mockserver.faults.registry import Fault
from hookproof.mockserver.faults.renamed import RENAMED
from hookproof.spec.contract.service_contract import OPERATION_IDS
from hookproof.spec.dialect.model import Dialect


class FaultOrder(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """A request to arm a fault: its name, its parameters, and the requests that it affects.

    `next` is a number of requests, `rate` a share of them from 0 to 1, decided by `seed`. Without
    either the fault affects every request. `path` limits it to paths that contain that text,
    `operation` to one operation of the document, by the operation ID of the contract. `value` is
    any JSON value; on the command line, JSON text.
    """

    fault: str
    next: int | None = None
    rate: float | None = None
    seed: int = 0
    path: str = ""
    operation: str = ""
    delay_s: float | None = None
    status: int | None = None
    member: str | None = None
    value: Any = msgspec.UNSET

    def parameters(self) -> dict[str, Any]:
        values = {"delay_s": self.delay_s, "status": self.status, "member": self.member}
        given = {name: value for name, value in values.items() if value is not None}
        return given if self.value is msgspec.UNSET else {**given, "value": self.value}


class BadOrder(ValueError):
    """An order that cannot be carried out; the message says why, in one line."""


@dataclass(slots=True)
class ArmedFault:
    """A responder fault; `left` counts the requests that it still affects, None: all."""

    order: FaultOrder
    fault: ResponderFault
    rng: random.Random
    left: int | None

    @classmethod
    def of(cls, order: FaultOrder) -> "ArmedFault":
        """Create the fault; raises BadOrder."""
        if order.fault not in FAULTS:
            raise BadOrder(_unknown_name(order.fault))
        if order.next is not None and order.next < 1:
            raise BadOrder("next is a number of requests, at least 1")
        if order.rate is not None and not 0 <= order.rate <= 1:
            raise BadOrder("rate is a share from 0 to 1")
        if order.operation and order.operation not in OPERATION_IDS:
            raise BadOrder(
                f"there is no operation {order.operation!r}; there are {', '.join(OPERATION_IDS)}"
            )
        try:
            fault = FAULTS[order.fault](**order.parameters())
        except TypeError:
            raise BadOrder(_unfit_parameters(order)) from None
        return cls(order=order, fault=fault, rng=random.Random(order.seed), left=order.next)

    def affects(self, path: str, operation: str | None) -> bool:
        """Whether it affects a request with this path to this operation, which then counts."""
        if self.order.path not in path or self.left == 0:
            return False
        if self.order.operation not in ("", operation):
            return False
        if self.order.rate is not None and self.rng.random() >= self.order.rate:
            return False
        if self.left is not None:
            self.left -= 1
        return True


# Assembles the server again with these faults of the catalogue, and returns its API.
Reassemble = Callable[[Sequence[Fault]], Awaitable[Responder]]

# The operation ID of a request with this method and raw path; None if there is no such operation.
FindOperation = Callable[[str, str], str | None]


class LiveFaults:
    """Stands between the listener and the API; without faults it passes requests through."""

    def __init__(
        self,
        api: Responder,
        dialect: Dialect,
        find_operation: FindOperation,
        reassemble: Reassemble,
    ) -> None:
        self._clean = api
        self._api = api
        self._dialect = dialect
        self._find_operation = find_operation
        self._reassemble = reassemble
        self._armed: list[ArmedFault] = []
        self._catalogued: list[Fault] = []
        self._reassembling = asyncio.Lock()

    def answer(self, request: BaseRequest) -> Awaitable[ApiResponse]:
        """The response of the API, altered by every fault that affects the request.

        The fault that was armed last is nearest to the API.
        """
        if not self._armed:
            return self._api.answer(request)
        operation = self._find_operation(request.method, request.rel_url.raw_path)
        return self._altered(request, operation, list(self._armed))

    def _altered(
        self, request: BaseRequest, operation: str | None, armed: Sequence[ArmedFault]
    ) -> Awaitable[ApiResponse]:
        for behind, item in enumerate(armed, start=1):
            if item.affects(request.path_qs, operation):
                # A fault that does not carry the request out leaves those behind it uncounted.
                carry_out = partial(self._altered, operation=operation, armed=armed[behind:])
                return item.fault.answer(request, carry_out)
        return self._api.answer(request)

    async def arm(self, order: FaultOrder) -> None:
        """Add a fault; raises BadOrder."""
        catalogued = catalogue().get(order.fault)
        if catalogued is None:
            self.arm_responder_fault(order)
            return
        if order != FaultOrder(fault=order.fault):
            raise BadOrder(f"{order.fault} is on or off: it does not accept further members")
        if not catalogued.applies(self._dialect):
            raise BadOrder(f"{order.fault} is not a fault under the dialect {self._dialect.name}")
        async with self._reassembling:
            if catalogued not in self._catalogued:
                self._api = await self._reassemble([*self._catalogued, catalogued])
                self._catalogued.append(catalogued)

    def arm_responder_fault(self, order: FaultOrder) -> None:
        """Add a responder fault; raises BadOrder."""
        self._armed.append(ArmedFault.of(order))

    async def disarm(self) -> None:
        """Remove every fault."""
        self._armed.clear()
        async with self._reassembling:
            if self._catalogued:
                await self._reassemble([])
                self._catalogued.clear()
                self._api = self._clean

    def describe_armed(self) -> list[dict[str, Any]]:
        """What is armed, as JSON, with the number of requests that are left (null: no limit)."""
        return [
            *({**msgspec.to_builtins(armed.order), "left": armed.left} for armed in self._armed),
            *({"fault": fault.name, "broken": fault.broken} for fault in self._catalogued),
        ]


def _unfit_parameters(order: FaultOrder) -> str:
    accepted = signature(FAULTS[order.fault]).parameters.values()
    missing = [
        each.name
        for each in accepted
        if each.default is each.empty and each.name not in order.parameters()
    ]
    if missing:
        return f"{order.fault} needs {' and '.join(missing)}"
    unknown = order.parameters().keys() - {each.name for each in accepted}
    return f"{order.fault} does not accept {', '.join(sorted(unknown))}"


def _unknown_name(name: str) -> str:
    if name in RENAMED:
        return f"the fault {name} is now called {RENAMED[name]}"
    near = get_close_matches(name, [*FAULTS, *catalogue()], n=3)
    known = f"did you mean {' or '.join(near)}?" if near else f"there are {', '.join(FAULTS)};"
    return f"there is no fault {name!r}; {known} `hookproof serve --list-faults` names all"
