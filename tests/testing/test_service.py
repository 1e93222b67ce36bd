"""`hookproof.Service` as the tests of others use it."""

import asyncio
import http.server
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest

from hookproof import Receiver, Service
from hookproof.receiver.client.child_process import ChildFailed
from hookproof.testing.failure_report import fixture_sections
from hookproof.testing.service import ServiceFailed
from tests.polling import poll_until
from tests.quick_start.children import usual_children
from tests.testing.api_caller import broadcast_to, call

SECRET = "a secret of this endpoint"


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    with Service(ca_folder=tmp_path_factory.mktemp("ca")) as service:
        yield service


@pytest.fixture
def service(running: Service) -> Service:
    running.reset()
    return running


@contextmanager
def own_software(certificate: Path) -> Iterator[tuple[str, list[bytes]]]:
    """A web server that somebody tests: its https URL, and the bodies that were posted to it."""
    bodies = []

    class OwnHandler(http.server.BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            bodies.append(self.rfile.read(int(self.headers["Content-Length"])))
            self.send_response(204)
            self.end_headers()

        def log_message(self, *_: object) -> None: ...

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    with http.server.HTTPServer(("127.0.0.1", 0), OwnHandler) as server:
        server.socket = context.wrap_socket(server.socket, server_side=True)
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"https://localhost:{server.server_port}/hooks", bodies
        finally:
            server.shutdown()
            thread.join()


def test_the_api_can_be_called_under_each_dialect() -> None:
    with Service(dialect="contrary") as service:
        assert service.authorization.startswith("HookKey key=")
        assert call(service, "GET", "sources")[0] // 100 == 2


def test_it_starts_with_nothing_in_it_and_a_reset_empties_it(service: Service) -> None:
    for kind in ("portal-links", "sources"):
        assert call(service, "GET", kind)[1]["content"] == []
    made = service.add_portal_link(name="Orders", owner_id="owner-1")
    status, shown = call(service, "GET", f"portal-links/{made['uid']}")
    assert (status, shown["name"]) == (200, "Orders")
    service.reset()
    assert call(service, "GET", f"portal-links/{made['uid']}")[0] == 404
    assert len(service.journal("requests")) == 1


def test_sources_are_made(service: Service) -> None:
    made = service.add_source(name="Pushes", type="http")
    (listed,) = call(service, "GET", "sources")[1]["content"]
    assert listed["uid"] == made["uid"]


def test_what_cannot_be_made_is_refused_with_the_reason(service: Service) -> None:
    with pytest.raises(ServiceFailed, match=r"refused POST .*portal-links: .*name"):
        service.add_portal_link(owner_id="owner-1")
    with pytest.raises(ServiceFailed, match="server_error"):
        service.arm_fault("server_eror")


def test_a_fault_affects_as_many_requests_as_it_says(service: Service) -> None:
    service.arm_fault("server_error", status=503, next=1)
    assert [call(service, "GET", "sources")[0] for _ in range(2)] == [503, 200]
    service.arm_fault("server_error", status=503)
    service.disarm_faults()
    assert call(service, "GET", "sources")[0] == 200


def test_it_delivers_to_a_receiver_that_has_the_same_ca(service: Service) -> None:
    with Receiver(ca_folder=service.ca_file.parent) as receiver:
        receiver.secrets(SECRET)
        endpoint = broadcast_to(service, receiver.url, SECRET)
        (delivery,) = receiver.wait_for()
        assert delivery.verified, delivery
        (sent,) = service.journal("deliveries", count=1, state="delivered", endpoint=endpoint)
        assert sent["event_type"] == "order.paid"


def test_it_delivers_to_software_that_has_the_certificate(service: Service) -> None:
    with own_software(service.server_certificate) as (url, bodies):
        broadcast_to(service, url, SECRET)
        service.journal("deliveries", count=1, state="delivered")
    assert len(bodies) == 1


def test_waiting_in_vain_says_what_happened(service: Service) -> None:
    call(service, "GET", "sources")
    expected = (
        r"(?s)requests expected within 0.2 s: 2, found: 1\n"
        r"requests: 1\n  GET /api/v1/projects/.*/sources 200 \(listSources\)\ndeliveries: 0"
    )
    with pytest.raises(AssertionError, match=expected):
        service.journal("requests", count=2, timeout_s=0.2)
    with pytest.raises(AssertionError, match=expected):
        asyncio.run(service.journal_async("requests", count=2, timeout_s=0.2))


def test_what_became_of_a_delivery_is_described(service: Service) -> None:
    with Receiver() as stranger:  # its CA is another one
        endpoint = broadcast_to(service, stranger.url, SECRET)
        poll_until(lambda: "certificate" in service.describe(), "the delivery has failed")
    assert f"order.paid to {endpoint}" in service.describe()


def test_no_control_character_of_a_client_reaches_the_terminal(service: Service) -> None:
    broadcast_to(service, "https://127.0.0.1:1/", SECRET, event_type="order\x1b[31m\x9b\u202e")
    call(service, "GET", "%1b31m")
    described = service.describe()
    assert described.replace("\n", "").isprintable()
    assert "order\\x1b[31m\\x9b\\u202e to " in described
    assert "31m 404" in described


async def test_awaiting_the_journal_leaves_the_event_loop_alone(service: Service) -> None:
    waiting = asyncio.create_task(service.journal_async("requests", count=1, timeout_s=30))
    await asyncio.sleep(0)
    await asyncio.to_thread(call, service, "GET", "sources")
    result = len(await waiting)
    assert result == 1


def test_keys_are_in_no_command_line() -> None:
    others = set(psutil.Process().children())
    with usual_children(), Service() as service:
        (child,) = set(psutil.Process().children()) - others
        assert service.api_key not in " ".join(child.cmdline())
        child.kill()
        child.wait()
        ((_, described),) = fixture_sections({"mine": service}, "message")
    assert "does not answer" in described


def test_a_service_that_does_not_run_says_so() -> None:
    with pytest.raises(RuntimeError, match="use it in a with statement"):
        Service().reset()


def test_a_dialect_that_cannot_be_served_is_refused() -> None:
    with pytest.raises(ChildFailed, match="no such dialect"), Service(dialect="klingon"):
        pass
