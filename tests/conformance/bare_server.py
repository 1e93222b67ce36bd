"""A server that needs hooks: it has no portal links and no sources, and delivers only to endpoints
with a subscription.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.conformance.reference_server import reference_server
from tests.source_tree import copied_sources

HOOKS = """
import json
import pathlib
import urllib.request

HERE = pathlib.Path(__file__).parent


class Provisioner:
    def create_portal_link(self, project, portal_link):
        return create(project, "portal-links", portal_link)

    def create_source(self, project, source):
        return create(project, "sources", source)

    def after_endpoint_created(self, project, endpoint):
        (HERE / "subscribed" / endpoint["uid"]).touch()


def create(project, kind, record):
    url = f"{(HERE / 'control').read_text()}/projects/{project['id']}/{kind}"
    headers = {"Content-Type": "application/json"}
    request = urllib.request.Request(url, json.dumps(record).encode(), headers)
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)
"""


@contextmanager
def bare_server(folder: Path) -> Iterator[str]:
    """A reference server without fixtures that delivers to subscribed endpoints only; yields its
    URL.
    """
    planted = copied_sources(folder / "planted")
    (folder / "subscribed").mkdir()
    endpoints = planted / "mockserver" / "store" / "endpoints.py"
    endpoints.write_text(f"{endpoints.read_text()}\n{subscription_guard(folder / 'subscribed')}")
    with reference_server(folder, planted, "p1", options=("--fixtures", "none")) as ready:
        (folder / "control").write_text(ready["control"])
        yield ready["api"]


def subscription_guard(folder: Path) -> str:
    """Source that lets a broadcast reach only the endpoints that have a file in the folder."""
    return (
        "import pathlib\n"
        "_all_reached = EndpointTable.find_reached\n"
        "def _subscribed(self, project, **more):\n"
        f"    folder = pathlib.Path({str(folder)!r})\n"
        "    rows = _all_reached(self, project, **more)\n"
        "    return [row for row in rows if (folder / row.uid).exists()]\n"
        "EndpointTable.find_reached = _subscribed\n"
    )
