"""What Locust itself shows of a run: its tables on the console, its CSV, its web page.

The web page shows the run and does not control it. Locust's own would let any page in the browser
begin another run, at any host; here only `stop` is left, and it does what ctrl-C does.
"""

import csv
import io
import logging
import socket
import sys
from collections.abc import Callable
from http import HTTPStatus
from typing import Any, Final

import gevent
from flask import abort, jsonify, request
from locust.env import Environment
from locust.stats import PERCENTILES_TO_REPORT, StatsCSV, stats_history

from hookproof.process.messages import MessageHandler
from hookproof.receiver.http.address import Address

STOP: Final = "/stop"
OWN_PAGE: Final = frozenset({None, "none", "same-origin"})


def show_tables() -> None:
    """Send Locust's tables to standard output and its warnings to standard error."""
    logging.getLogger("locust").setLevel(logging.WARNING)
    logging.lastResort = MessageHandler(logging.WARNING)
    # The command reports in its own words what these warn about.
    logging.getLogger("locust.runners").setLevel(logging.CRITICAL)
    tables = logging.getLogger("locust.stats_logger")
    tables.setLevel(logging.INFO)
    tables.addHandler(MessageHandler(err=False))
    tables.propagate = False


def stats_csv(environment: Environment) -> str:
    """Locust's table of requests and deliveries; times are in milliseconds."""
    written = io.StringIO()
    StatsCSV(environment, PERCENTILES_TO_REPORT).requests_csv(
        csv.writer(written, lineterminator="\n")
    )
    return written.getvalue()


def serve_web_page(environment: Environment, at: Address, stop: Callable[[], None]) -> str:
    """Serve Locust's page as long as the process lives, and return its URL.

    Raises OSError for an address that is in use.
    """
    with socket.create_server(
        (at.host, at.port), family=socket.AF_INET6 if ":" in at.host else socket.AF_INET
    ) as free:
        port = free.getsockname()[1]
    sys.argv = sys.argv[:1]  # the page reads Locust's options there, and would read ours
    page = environment.create_web_ui(host=at.host, port=port, delayed_start=True)
    address = Address(host=at.host, port=port)
    assert page.app is not None
    page.app.before_request(lambda: _guard_request(stop))
    page.start()  # type: ignore[no-untyped-call]
    gevent.spawn(stats_history, environment.runner)
    return address.url("http")


def _guard_request(stop: Callable[[], None]) -> Any:
    """Allow requests that only read, treat a stop as ctrl-C, and refuse the rest."""
    if request.headers.get("Sec-Fetch-Site") not in OWN_PAGE:
        abort(HTTPStatus.FORBIDDEN, "another page asked")
    if request.method in {"GET", "HEAD"}:
        return None
    if request.path != STOP:
        abort(HTTPStatus.FORBIDDEN, "what is sent can be set on the command line only")
    stop()
    return jsonify(
        {"success": True, "message": "no more is sent; what is under way may still arrive"}
    )
