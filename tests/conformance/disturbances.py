"""What makes learning harder without a server being wrong: an operation that nobody may call, a way
that is slow now and then, hooks that fail.
"""

import json
import random
import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Final

from hookproof.target.settings import Flags
from tests.conformance.reference_server import RECEIVER_SETTINGS, project_settings
from tests.conformance.run.test_far_targets import unused_port
from tests.conformance.spoiling_proxy import ProxyAnswer, refusing_proxy
from tests.relays import uneven_way

# The longest time by which something is late, and the share of what is.
LATE_S: Final = 5.0
OFTEN: Final = 0.25
SELDOM: Final = 0.02
UNLICENSED: Final = ProxyAnswer(
    status=401,
    headers=(("Content-Type", "application/json"),),
    body=json.dumps({"status": False, "message": "your licence does not include this"}).encode(),
)
# The requests of each operation, by path and whether there is a body.
OPERATIONS: Final = {
    "listPortalLinks": (r"/portal-links(\?.*)?", None),
    "updatePortalLink": (r"/portal-links/[^/]+", True),
    "getPortalLink": (r"/portal-links/[^/]+", False),
    "listSources": (r"/sources(\?.*)?", None),
    "createEndpoint": (r"/endpoints", True),
    "expireEndpointSecret": (r"/expire_secret", None),
    "createBroadcastEvent": (r"/events/broadcast(\?.*)?", True),
}
HOOKS: Final = """
class Provisioner:
    created = 0

    def create_portal_link(self, project, portal_link):
        raise RuntimeError("no portal link can be created")

    def after_endpoint_created(self, project, endpoint):
        Provisioner.created += 1
        if Provisioner.created % 5 == 4:
            raise RuntimeError("no subscription can be created")
"""

# Makes other settings of a target of them, within the block.
Disturbance = Callable[[Flags, Path], "Iterator[Flags]"]


@contextmanager
def undisturbed(flags: Flags, _folder: Path) -> Iterator[Flags]:
    yield flags


@contextmanager
def _refused(operation: str, flags: Flags, _folder: Path) -> Iterator[Flags]:
    pattern, has_body = OPERATIONS[operation]

    def refuse(path: str, body: bytes) -> ProxyAnswer | None:
        is_meant = re.search(f"{pattern}$", path) and has_body in (None, bool(body))
        return UNLICENSED if is_meant else None

    with refusing_proxy(flags.url or "", refuse) as url:
        yield replace(flags, url=url)


@contextmanager
def _noisy(flags: Flags, _folder: Path) -> Iterator[Flags]:
    choice = random.Random(flags.url)

    def late_s(share: float) -> float:
        return choice.uniform(0.0, LATE_S) if choice.random() < share else 0.0

    with ExitStack() as stack:
        port = stack.enter_context(unused_port())
        api = stack.enter_context(uneven_way(flags.url or "", partial(late_s, SELDOM)))
        deliveries = stack.enter_context(
            uneven_way(f"https://127.0.0.1:{port}", partial(late_s, OFTEN))
        )
        yield replace(
            flags,
            url=api.url,
            receiver_bind=f"127.0.0.1:{port}",
            receiver_url=deliveries.url,
        )


@contextmanager
def _failing_hooks(flags: Flags, folder: Path) -> Iterator[Flags]:
    (folder / "hooks.py").write_text(HOOKS)
    projects = [flags.project or "", *(name for name, _ in flags.further_projects)]
    settings = {
        "base_url": flags.url,
        "projects": project_settings(*projects),
        "dialect": flags.dialect,
        "receiver": RECEIVER_SETTINGS,
        "provision": "./hooks.py:Provisioner",
    }
    file = folder / "target.yaml"
    file.write_text(json.dumps(settings))
    yield Flags(file=file)


DISTURBANCES: Final = {
    "none": undisturbed,
    "noise": _noisy,
    "hooks": _failing_hooks,
    **{f"refused-{operation}": partial(_refused, operation) for operation in OPERATIONS},
}
# Those that `make learn-all` tries with each shipped dialect.
USUAL: Final = ("refused-listPortalLinks", "refused-updatePortalLink", "noise", "hooks")
