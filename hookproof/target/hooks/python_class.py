"""Hooks written as a Python class, `./hooks.py:Provisioner` in target.yaml.

    class Provisioner:
        # project: {"id": ..., "api_key": ...}
        def create_portal_link(self, project, portal_link): ...
        def create_source(self, project, source): ...
        def after_endpoint_created(self, project, endpoint): ...
        def remove_endpoint(self, project, endpoint): ...
        def after_run(self): ...
        def fresh_project(self): return {"id": ..., "api_key": ...}

A class defines those that it needs, with `def` or `async def`. It is instantiated once,
without arguments.
"""

import asyncio
import difflib
import importlib.util
import inspect
import threading
import traceback
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import Any, Final

from hookproof.target.file_schema import HOOK_ARGUMENTS
from hookproof.target.hooks.provision import Hook, HookFailed

MODULE: Final = "hookproof_provision_hooks"
# How similar the name of a method must be to that of a hook to count as a misspelling of it.
CLOSE: Final = 0.75


class BadHooks(Exception):
    """A class that cannot be used; one line says why, and what to do."""


def load_class_hooks(path: Path, name: str, *, timeout_s: float) -> Mapping[str, Hook]:
    """The hooks of the class of this name in a file; raises BadHooks. A call takes at most
    `timeout_s` seconds.
    """
    kind = getattr(_module(path), name, None)
    if not isinstance(kind, type):
        raise BadHooks(f"{path} defines no class {name}")
    try:
        provisioner = kind()
    except (Exception, SystemExit) as error:  # noqa: BLE001 the user's own code may raise anything
        raise BadHooks(
            f"{path}: {name}() cannot be created without arguments: {_describe(error, path)}"
        ) from None
    _refuse_misspellings(path, kind)
    methods = {
        hook: getattr(provisioner, hook)
        for hook in HOOK_ARGUMENTS
        if callable(getattr(provisioner, hook, None))
    }
    if not methods:
        raise BadHooks(f"{path}: {name} has none of the methods {', '.join(HOOK_ARGUMENTS)}")
    for hook, method in methods.items():
        _refuse_other_arguments(path, hook, method)
    return {
        hook: _Method(hook, method, path=path, timeout_s=timeout_s)
        for hook, method in methods.items()
    }


def _module(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(MODULE, path)
    if spec is None or spec.loader is None or not path.is_file():
        raise BadHooks(f"{path} is not a Python file; give one as ./hooks.py:Provisioner")
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:  # noqa: BLE001 the user's own code may raise anything
        raise BadHooks(f"{path} cannot be imported: {_describe(error, path)}") from None
    return module


def _refuse_misspellings(path: Path, kind: type) -> None:
    for name in (
        name for name in vars(kind) if not name.startswith("_") and name not in HOOK_ARGUMENTS
    ):
        if meant := difflib.get_close_matches(name, HOOK_ARGUMENTS, n=1, cutoff=CLOSE):
            raise BadHooks(
                f"{path}: {kind.__name__}.{name} is not a hook; did you mean {meant[0]}?"
            )


def _refuse_other_arguments(path: Path, hook: str, method: Any) -> None:
    wanted = HOOK_ARGUMENTS[hook]
    try:
        inspect.signature(method).bind(*wanted)
    except TypeError as error:
        raise BadHooks(
            f"{path}: {hook} must accept ({', '.join(('self', *wanted))}): {error}"
        ) from None


class _Method:
    """One hook: a method of the class, which may block, hang or raise."""

    def __init__(self, hook: str, method: Any, *, path: Path, timeout_s: float) -> None:
        self._hook = hook
        self._method = method
        self._path = path
        self._timeout_s = timeout_s

    async def __call__(self, arguments: Mapping[str, Any]) -> object:
        """Raises HookFailed."""
        values = [arguments[name] for name in HOOK_ARGUMENTS[self._hook]]
        try:
            async with asyncio.timeout(self._timeout_s) as limit:
                if inspect.iscoroutinefunction(self._method):
                    return await self._method(*values)
                return await _in_thread(self._method, *values)
        except (Exception, SystemExit) as error:  # noqa: BLE001 the user's own code may raise anything
            late = f"it took longer than {self._timeout_s:g} s (budgets.request_s)"
            gave = late if limit.expired() else _describe(error, self._path)
            raise HookFailed(self._hook, gave) from None


async def _in_thread(method: Any, *values: Any) -> object:
    """The result of a blocking method. Its thread is a daemon, so that one that hangs does not keep
    the run from ending.
    """
    loop = asyncio.get_running_loop()
    done: asyncio.Future[tuple[object, BaseException | None]] = loop.create_future()

    def settle(result: object, error: BaseException | None) -> None:
        if not done.done():
            done.set_result((result, error))

    def work() -> None:
        result, failure = None, None
        try:
            result = method(*values)
        except BaseException as error:  # noqa: BLE001 the caller in the loop must get any error
            failure = error
        if not loop.is_closed():
            loop.call_soon_threadsafe(settle, result, failure)

    threading.Thread(target=work, name="provision hook", daemon=True).start()
    result, failure = await done
    if failure is not None:
        raise failure
    return result


def _describe(error: BaseException, path: Path) -> str:
    """What the user's code raised, and where in the user's file."""
    words = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    frames = traceback.extract_tb(error.__traceback__)
    lines = [frame.lineno for frame in frames if Path(frame.filename) == path.absolute()]
    return f"{words} ({path.name}, line {lines[-1]})" if lines else words
