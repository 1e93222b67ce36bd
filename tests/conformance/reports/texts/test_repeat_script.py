"""The script of a finding, run by a shell whose curl and jq are stand-ins."""

import os
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from hookproof.conformance.model.ledger import Finding
from hookproof.conformance.reports.texts.repeat_script import repeat_commands, repeat_script
from hookproof.conformance.results.defects import BrokenRequirement
from hookproof.conformance.results.run_file import Header
from tests.conformance.canned_evidence import delivery, exchange
from tests.conformance.canned_run import failed, finding, header

KEY = (("Authorization", "Bearer $HOOKPROOF_API_KEY"),)
VARIABLES = {"HOOKPROOF_API_KEY": "the-key", "HOOKPROOF_SECRET_7": "mine"}


# What subscribes an endpoint, in two requests.
CALLS: list[dict[str, Any]] = [
    {
        "method": "POST",
        "url": "http://target.invalid/{project.id}/tickets",
        "headers": [["X-Admin", "$HOOKPROOF_HEADER_X_ADMIN"]],
        "body": {"for": "{endpoint.name}", "word": "{unique}"},
        "keep": {"ticket": "data.0.id"},
        "at_target": False,
    },
    {
        "method": "PUT",
        "url": "http://target.invalid/tickets/{ticket}",
        "headers": [["Authorization", "Bearer {project.api_key}"]],
        "body": {"endpoint_id": "{endpoint.uid}", "types": ["*"]},
        "keep": {},
        "at_target": True,
    },
]
HOOKED = replace(header(), hooks=["after_endpoint_created"], hook_calls=CALLS)


def script_of(shown: Finding, run_header: Header | None = None) -> str:
    entry = replace(failed(), findings=(shown,))
    return repeat_script(BrokenRequirement(entry=entry, finding=shown), run_header or header())


@pytest.fixture
def created_and_missed() -> Finding:
    """An endpoint that is created, and a broadcast that does not arrive there."""
    tenant = ("X-Tenant", "$HOOKPROOF_HEADER_X_TENANT")
    creation = exchange(
        request={"name": "it"}, data={"uid": "e1", "name": "it"}, request_headers=(*KEY, tenant)
    )
    broadcast = exchange("event", "createBroadcastEvent", request_headers=KEY)
    return replace(finding(), exchanges=(creation, broadcast), deliveries=())


@pytest.fixture
def created_and_fetched() -> Finding:
    """An endpoint that is created with a secret, and is then fetched."""
    creation = exchange(
        request={"name": "it", "secret": "secret#7"},
        data={"uid": "e1", "secrets": [{"uid": "s1"}]},
        request_headers=KEY,
    )
    fetch = exchange("fetch", "getEndpoint", path={"endpointID": "e1"}, request_headers=KEY)
    return replace(finding(), exchanges=(creation, fetch), deliveries=())


@pytest.fixture
def commands(tmp_path: Path) -> Path:
    """A folder with a curl that writes its arguments to `calls`, and a jq that prints a uid."""
    for name, text in (
        ("curl", f'printf "%s\\n" "$*" >> {tmp_path}/calls'),
        ("jq", "echo new-uid"),
    ):
        (tmp_path / name).write_text(f"#!/bin/sh\n{text}\n")
        (tmp_path / name).chmod(0o755)
    return tmp_path


def run(script: str, folder: Path, variables: dict[str, str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["/bin/sh"],
        input=script,
        cwd=folder,
        env={"PATH": f"{folder}:{os.environ['PATH']}", **variables},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


def test_later_steps_use_what_the_script_itself_has_created(
    created_and_fetched: Finding, commands: Path
) -> None:
    ended = run(script_of(created_and_fetched), commands, VARIABLES)
    assert (ended.returncode, ended.stderr) == (0, "")
    creation, fetch = (commands / "calls").read_text().splitlines()
    assert "Bearer the-key" in creation
    assert '"secret": "mine"' in creation
    assert "/endpoints/new-uid -H" in fetch


@pytest.mark.parametrize("missing", sorted(VARIABLES))
def test_a_script_says_where_to_get_what_it_lacks_and_sends_nothing(
    created_and_fetched: Finding, commands: Path, missing: str
) -> None:
    others = {name: value for name, value in VARIABLES.items() if name != missing}
    ended = run(script_of(created_and_fetched), commands, others)
    assert ended.returncode != 0
    assert missing in ended.stderr
    assert "project p1" in ended.stderr or "credential that the target accepts" in ended.stderr
    assert not (commands / "calls").exists()


def test_a_fetch_of_what_was_there_before_takes_a_uid_of_the_reader(commands: Path) -> None:
    link = exchange("link", "getPortalLink", path={"portalLinkID": "l1"}, request_headers=KEY)
    fetch = exchange("fetch", "getEndpoint", path={"endpointID": "e1"}, request_headers=KEY)
    unknown = exchange(
        "unknown", "getEndpoint", path={"endpointID": "none"}, request_headers=KEY, status=404
    )
    script = script_of(replace(finding(), exchanges=(link, fetch, unknown), deliveries=()))
    refused = run(script, commands, VARIABLES)
    assert "the uid of a portal link of the project; that of the run was l1" in refused.stderr
    mine = {"HOOKPROOF_PORTAL_LINK_1": "my-link", "HOOKPROOF_ENDPOINT_2": "my-endpoint"}
    assert run(script, commands, {**VARIABLES, **mine}).stderr == ""
    first, second, third = (commands / "calls").read_text().splitlines()
    assert "/portal-links/my-link " in first
    assert "/endpoints/my-endpoint " in second
    assert "/endpoints/none " in third


def test_the_steps_say_what_they_are_for(created_and_fetched: Finding) -> None:
    script = script_of(created_and_fetched)
    assert "# acts: createEndpoint, which was answered 201" in script
    assert "# shows: getEndpoint, which was answered 200" in script
    assert "# expected: 'it'" in script


def test_deliveries_are_shown_at_a_receiver_of_the_reader(commands: Path) -> None:
    wanted = {"name": "it", "url": "https://127.0.0.1:9/t1"}
    creation = exchange(request=wanted, request_headers=KEY)
    shown = replace(finding(), exchanges=(creation,), deliveries=(delivery(body=b'{"a" :1}'),))
    receiver = {"HOOKPROOF_RECEIVER": "https://127.0.0.1:8443"}
    ended = run(script_of(shown), commands, VARIABLES | receiver)
    assert ended.stderr == ""
    created, broadcast = (commands / "calls").read_text().splitlines()
    assert '"url": "https://127.0.0.1:8443/t1"' in created
    assert "/events/broadcast " in broadcast
    assert '"data":{"a" :1}' in broadcast


def test_a_hostile_target_adds_no_command(commands: Path) -> None:
    hostile = "x'; touch evil; $(touch evil) `touch evil`\ntouch evil"
    creation = exchange(request={"name": hostile}, data={"uid": hostile}, request_headers=KEY)
    fetch = exchange("fetch", "getEndpoint", path={"endpointID": hostile}, request_headers=KEY)
    shown = replace(
        finding(),
        message=hostile,
        expected=hostile,
        actual=hostile,
        exchanges=(replace(creation, project=f'p"{hostile}'), fetch),
        deliveries=(),
    )
    ended = run(script_of(shown), commands, VARIABLES)
    assert (ended.returncode, ended.stderr) == (0, "")
    assert not (commands / "evil").exists()
    assert len((commands / "calls").read_text().splitlines()) == 2


def test_a_finding_without_exchanges_has_no_script() -> None:
    assert script_of(replace(finding(), exchanges=())) == ""


def test_a_header_of_the_target_file_is_read_from_the_environment(
    created_and_fetched: Finding, commands: Path
) -> None:
    headers = (*KEY, ("X-Gateway", "$HOOKPROOF_HEADER_X_GATEWAY"))
    creation, _ = created_and_fetched.exchanges
    gated = replace(created_and_fetched, exchanges=(replace(creation, request_headers=headers),))
    missing = run(script_of(gated), commands, VARIABLES)
    assert missing.returncode != 0
    assert "HOOKPROOF_HEADER_X_GATEWAY: the value of a header in target.yaml" in missing.stderr
    run(script_of(gated), commands, {**VARIABLES, "HOOKPROOF_HEADER_X_GATEWAY": "open"})
    assert "X-Gateway: open" in (commands / "calls").read_text()


def test_what_was_created_long_before_is_created_again(
    created_and_fetched: Finding, commands: Path
) -> None:
    creation, fetch = created_and_fetched.exchanges
    unrelated = exchange(data={"uid": "e2"}, request_headers=KEY)
    proof = (unrelated, creation, *[fetch] * 9)
    ended = run(script_of(replace(created_and_fetched, exchanges=proof)), commands, VARIABLES)
    assert (ended.returncode, ended.stderr) == (0, "")
    first, *others = (commands / "calls").read_text().splitlines()
    assert '"secret": "mine"' in first
    assert len(others) == 4
    assert all("/endpoints/new-uid -H" in call for call in others)


def test_a_body_that_is_too_long_for_a_command_is_read_from_a_file(
    created_and_fetched: Finding, commands: Path
) -> None:
    creation, fetch = created_and_fetched.exchanges
    long = replace(creation, request_body=b'{"name":"%s"}' % (b"x" * 3000))
    script = script_of(replace(created_and_fetched, exchanges=(long, fetch)))
    ended = run(script, commands, VARIABLES)
    assert ended.returncode == 1
    assert ended.stderr == (
        "body_1.bin is missing: 3011 bytes: request_body_b64 of this exchange in run.jsonl\n"
    )
    (commands / "body_1.bin").touch()
    assert run(script, commands, VARIABLES).returncode == 0
    first, second = (commands / "calls").read_text().splitlines()
    assert first.endswith("--data-binary @body_1.bin")
    assert "/endpoints/new-uid -H" in second


def test_a_script_does_what_the_hook_did_for_a_new_endpoint(
    created_and_missed: Finding, commands: Path
) -> None:
    headers = {f"HOOKPROOF_HEADER_X_{name}": name.lower() for name in ("ADMIN", "TENANT")}
    script = script_of(created_and_missed, HOOKED)
    ended = run(script, commands, {**VARIABLES, **headers})
    assert (ended.returncode, ended.stderr) == (0, "")
    _, ticket, subscription, broadcast = (commands / "calls").read_text().splitlines()
    assert "-X POST http://target.invalid/p1/tickets -H X-Admin: admin" in ticket
    assert '--data-raw {"for": "it", "word": "new-uid"}' in ticket
    assert "-X PUT http://target.invalid/tickets/new-uid" in subscription
    assert "-H Authorization: Bearer the-key -H X-Tenant: tenant" in subscription
    assert '{"endpoint_id": "new-uid", "types": ["*"]}' in subscription
    assert "/events/broadcast" in broadcast
    assert "jq -r .data[0].id" in script
    assert "X_TICKET:?" not in script


def test_the_commands_of_every_report_do_what_the_hook_did(created_and_missed: Finding) -> None:
    creation, words, ticket, subscription, broadcast = repeat_commands(created_and_missed, HOOKED)
    assert "/endpoints" in creation
    assert words == "# after_endpoint_created, with the uid of that endpoint in HOOKPROOF_UID_1:"
    assert "/p1/tickets" in ticket
    assert "$HOOKPROOF_UID_1" in subscription
    assert "/events/broadcast" in broadcast


def test_a_hook_whose_requests_nobody_knows_is_named(created_and_missed: Finding) -> None:
    unknown = replace(HOOKED, hook_calls=[])
    *_, last = repeat_commands(created_and_missed, unknown)
    assert last in script_of(created_and_missed, unknown)
    assert last.startswith("# the hook after_endpoint_created of the target file has to run")


def test_what_needs_no_delivery_needs_no_hook(created_and_fetched: Finding) -> None:
    assert "after_endpoint_created" not in script_of(created_and_fetched, HOOKED)
