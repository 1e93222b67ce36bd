"""The process that prepares a target for a test of Locust, and receives what it delivers.

    python -P -m hookproof.load.locust_plugin.receiving_process

It reads a `ReceivingRequest`, and writes a `ReceivingReady`. It ends when its standard input does,
after the hooks have removed what it created, as far as there are any. It is a process of its own
since Locust patches the one in which it runs.
"""

import asyncio
import os
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Final

import msgspec

from hookproof.load.ledger.balance import Explanations
from hookproof.load.locust_plugin.messages import NothingReady, ReceivingReady, ReceivingRequest
from hookproof.load.plan import OperationTemplate
from hookproof.load.profile.load_profile import LoadProfile, RollSettings
from hookproof.load.run.driver import Driver, command_errors, open_driver
from hookproof.load.single_process import InterruptForwarder, SingleProcess
from hookproof.load.target.hook_calls import HookCalls
from hookproof.load.target.preparation import LoadPreparation
from hookproof.load.target.settings import KEY_VARIABLE, TargetSettings, target_settings
from hookproof.process.exit_codes import CommandError, ExitCode
from hookproof.process.messages import print_document, print_text
from hookproof.process.standard_streams import call_at_end_of_input, use_lasting_streams
from hookproof.spec.contract.service_contract import OPERATION_IDS
from hookproof.spec.strict_yaml.file_problem import FileProblems
from hookproof.target.settings import Flags, authority_of
from hookproof.target.target_file import NO_FILE


def settings_for(host: str | None) -> TargetSettings:
    """The target, as the environment says it: HOOKPROOF_TARGET is a target file.

    Raises CommandError and FileProblems.
    """
    value = os.environ.get
    file, ca_dir = value("HOOKPROOF_TARGET"), value("HOOKPROOF_CA_DIR")
    flags = Flags(
        url=host,
        file=Path(file) if file else None,
        api_key=value(KEY_VARIABLE),
        project=value("HOOKPROOF_PROJECT"),
        dialect=value("HOOKPROOF_DIALECT"),
        receiver_bind=value("HOOKPROOF_RECEIVER_BIND"),
        receiver_url=value("HOOKPROOF_RECEIVER_URL"),
        ca_dir=Path(ca_dir) if ca_dir else None,
    )
    if host is not None and flags.file is None and not flags.project:
        raise CommandError(
            "the target has no project: set HOOKPROOF_PROJECT and HOOKPROOF_API_KEY, or"
            " HOOKPROOF_TARGET, a target file with both"
        )
    authority_of(flags, NO_FILE)  # raises where there is none: a new one is trusted by nobody
    return target_settings(flags, os.environ)


# How fast and how long is Locust's to say; a profile needs some figures nevertheless.
_ANY_RATE: Final = {"rate": 1, "duration_s": 1, "users": 1}


def profile_of(wanted: ReceivingRequest) -> LoadProfile:
    """What is to be prepared, as a load profile; raises ValueError."""
    endpoints = msgspec.to_builtins(wanted.endpoints)
    profile = LoadProfile.of(
        {
            "name": "locust",
            "summary": "What a locustfile does.",
            **_ANY_RATE,
            "payload_bytes": wanted.payload_bytes,
            "drain_s": wanted.drain_s,
            "endpoints": endpoints,
            "fail_if": [],
        }
    )
    return replace(profile, drain_at_most_s=wanted.drain_at_most_s)


async def receive(wanted: ReceivingRequest) -> None:
    """Prepare, say what was prepared, and receive until cancelled; raises CommandError."""
    task = asyncio.current_task()
    assert task is not None
    call_at_end_of_input(asyncio.get_running_loop(), task.cancel)
    profile, settings = profile_of(wanted), settings_for(wanted.host)
    settings = replace(settings, metrics=wanted.metrics)
    if settings.base_url is None and not wanted.may_be_embedded:
        raise CommandError("no target: give --host, or HOOKPROOF_TARGET, a file with its base_url")
    hooks: HookCalls | None = None
    try:
        async with open_driver(
            settings,
            profile,
            None,
            web=None,
            interrupts=InterruptForwarder(cancel=task.cancel),
            announce=partial(print_text, err=True),
        ) as driver:
            hooks = driver.preparation.hooks
            print_document(msgspec.json.encode(prepared(driver, profile, wanted)).decode())
            await asyncio.Event().wait()
    finally:
        for line in [] if hooks is None else hooks.failed_at_end():
            print_text(f"hookproof: {line}", err=True)


def prepared(driver: Driver, profile: LoadProfile, wanted: ReceivingRequest) -> ReceivingReady:
    """What a prepared target is, for the processes of Locust."""
    preparation, generators = driver.preparation, driver.generators
    assert isinstance(generators, SingleProcess)
    profile = preparation.fitted(profile)
    if all(endpoint.uid for endpoint in preparation.endpoints):
        profile = replace(profile, roll=RollSettings(every_s=1, expiration_s=wanted.expiration_s))
    preparation.calls |= {name: template(preparation, name) for name in OPERATION_IDS}
    return ReceivingReady(
        control_url=generators.control_url,
        plan=preparation.plans(profile, "")[0],
        variables=preparation.settings.variables,
        explanations=Explanations.of(preparation.settings.dialect),
        rate_limit=profile.endpoints.rate_limit if profile.endpoints.limited else 0,
        rate_limit_s=float(profile.endpoints.rate_limit_duration_s),
        left_out=dict(preparation.left_out),
    )


def template(preparation: LoadPreparation, operation_id: str) -> OperationTemplate:
    """An operation whose path has names in braces, besides that of the project."""
    return preparation.call(operation_id, (preparation.path(operation_id),))


def main() -> None:
    """Prepare and receive; what cannot be is said on standard output."""
    use_lasting_streams()
    line = sys.stdin.buffer.readline()
    if not line.endswith(b"\n"):
        return
    try:
        with command_errors():
            asyncio.run(receive(msgspec.json.decode(line, type=ReceivingRequest)))
    except asyncio.CancelledError:
        return
    except (CommandError, FileProblems, ValueError) as problem:
        code = problem.exit_code if isinstance(problem, CommandError) else ExitCode.USAGE
        answer = NothingReady(problem=str(problem), exit_code=code)
        print_document(msgspec.json.encode(answer).decode())


if __name__ == "__main__":
    main()
