"""Attaches the parts of Hookproof to an environment of Locust."""

import os
import sys
from collections.abc import Iterable
from contextlib import suppress
from typing import Any, Final

import msgspec
from locust.env import Environment
from locust.runners import MasterRunner, WorkerRunner

from hookproof.load.locust_plugin.broadcast_sender import BroadcastSender
from hookproof.load.locust_plugin.delivery_listener import DeliveryListener, NotReady
from hookproof.load.locust_plugin.messages import ReceivingRequest
from hookproof.load.locust_worker.sender import SENDERS
from hookproof.load.locust_worker.webhook_user import WebhookUser
from hookproof.load.metrics import next_address
from hookproof.process.exit_codes import ExitCode
from hookproof.process.messages import print_text

LISTENERS: Final[dict[Environment, DeliveryListener]] = {}


def attach(environment: Environment, **_: Any) -> None:
    """Let users of `WebhookUser` be run in an environment that has its runner.

    Locust's command does so by itself, once `hookproof.locust` is imported. Where it starts a test
    at once, the target is prepared first, and the process ends if that cannot be.
    """
    users = [each for each in environment.user_classes if issubclass(each, WebhookUser)]
    if not users or environment in SENDERS or environment in LISTENERS:
        return
    runner, options = environment.runner, environment.parsed_options
    is_master = isinstance(runner, MasterRunner)
    try:
        metrics = os.environ.get("HOOKPROOF_METRICS")
        request = request_of(
            users,
            may_be_embedded=not is_master,
            metrics=None if metrics is None else receiver_metrics(metrics),
        )
        if not isinstance(runner, WorkerRunner):
            listener = LISTENERS[environment] = DeliveryListener(environment, runner, request)
            if metrics is not None:
                listener.serve_metrics(metrics)
            if options is not None and (options.headless or options.autostart):
                # The test of a master fails when it begins: its workers have to be told.
                with suppress(*[NotReady] * is_master):
                    listener.prepare()
    except NotReady as problem:
        print_text(f"hookproof: {problem}", err=True)
        sys.exit(problem.exit_code)
    if not is_master:
        SENDERS[environment] = BroadcastSender(environment, runner)


def receiver_metrics(of_head: str) -> str:
    """The address of the receiver's figures; raises NotReady."""
    try:
        return next_address(of_head, 1)
    except ValueError as problem:
        raise NotReady(f"HOOKPROOF_METRICS: {problem}", ExitCode.USAGE) from None


def request_of(
    users: Iterable[type[WebhookUser]], *, may_be_embedded: bool, metrics: str | None = None
) -> ReceivingRequest:
    """What the classes ask for; raises NotReady if they do not agree."""
    requests = {
        user.__name__: ReceivingRequest(
            host=user.host,
            may_be_embedded=may_be_embedded,
            endpoints=user.endpoints,
            payload_bytes=user.payload_bytes,
            expiration_s=user.expiration_s,
            drain_s=user.drain_s,
            drain_at_most_s=user.drain_at_most_s,
            metrics=metrics,
        )
        for user in users
    }
    (first, wanted), *others = requests.items()
    for name, other in others:
        differing = [
            field
            for field in msgspec.structs.asdict(wanted)
            if getattr(wanted, field) != getattr(other, field)
        ]
        if differing:
            raise NotReady(
                f"{first} and {name} differ in {', '.join(differing)}: give both the same",
                ExitCode.USAGE,
            )
    return wanted
