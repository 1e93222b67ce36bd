"""Provision hooks, written as a class or as HTTP steps, and the fixtures and capabilities of
target.yaml.
"""

import asyncio
import threading
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from hookproof.conformance.target.capabilities import CAPABILITIES, lacking
from hookproof.conformance.target.definition import Fixtures, Project, Target
from hookproof.conformance.target.file import target_from
from hookproof.process.exit_codes import CommandError
from hookproof.spec.catalogue import load_catalogue
from hookproof.target.connection import ApiConnection
from hookproof.target.file_schema import Presence
from hookproof.target.hooks.http_steps import HttpStep, fill_placeholders, http_hook
from hookproof.target.hooks.provision import HookFailed, Provision
from hookproof.target.hooks.python_class import BadHooks, load_class_hooks
from hookproof.target.settings import Flags
from tests.conformance.scripted_target import response, stand_in
from tests.relays import http_proxy

PROJECT = Project(id="p1", api_key="key-one")
HEAD = "base_url: http://127.0.0.1:5005\nprojects: [{id: p1, api_key: key-one}]\n"


def provision_from(
    folder: Path, source: str, *, name: str = "Provisioner", timeout_s: float = 60
) -> Provision:
    path = folder / "hooks.py"
    path.write_text(source)
    return Provision(hooks=load_class_hooks(path, name, timeout_s=timeout_s))


def target(folder: Path, text: str) -> Target:
    path = folder / "target.yaml"
    path.write_text(HEAD + text)
    return target_from(Flags(file=path), {})


def refusal(folder: Path, text: str) -> str:
    with pytest.raises(CommandError) as refused:
        target(folder, text)
    assert "Traceback" not in str(refused.value)
    return str(refused.value)


def test_a_class_is_called_with_the_project_and_the_resource(tmp_path: Path) -> None:
    provision = provision_from(
        tmp_path,
        "class Provisioner:\n"
        "    def create_portal_link(self, project, portal_link):\n"
        "        return {'uid': project['id'] + portal_link['name']}\n"
        "    async def create_source(self, project, source):\n"
        "        return project['api_key'] + source['type']\n"
        "    def fresh_project(self):\n"
        "        return {'id': 'p2', 'api_key': 'key-two', 'more': 1}\n",
    )
    assert asyncio.run(provision.create_portal_link(PROJECT, {"name": "n"})) == "p1n"
    assert asyncio.run(provision.create_source(PROJECT, {"type": "t"})) == "key-onet"
    assert asyncio.run(provision.fresh_project()) == {"id": "p2", "api_key": "key-two"}
    asyncio.run(provision.after_endpoint_created(PROJECT, {"uid": "e1"}))
    assert not provision.has("after_endpoint_created")


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("raise ValueError('no\\n such project')", "ValueError: no such project"),
        ("raise SystemExit(3)", "SystemExit: 3"),
        ("import threading; threading.Event().wait()", "longer than 0.2 s"),
        ("return 7", "returned 7"),
        ("return ''", 'returned ""'),
    ],
)
def test_a_hook_that_fails_is_reported_in_one_line(tmp_path: Path, body: str, message: str) -> None:
    source = (
        "class Provisioner:\n"
        "    def create_portal_link(self, project, portal_link):\n"
        f"        {body}\n"
    )
    provision = provision_from(tmp_path, source, timeout_s=0.2)
    with pytest.raises(HookFailed) as failed:
        asyncio.run(provision.create_portal_link(PROJECT, {}))
    assert str(failed.value).startswith("the provision hook create_portal_link failed: ")
    assert message in str(failed.value)
    assert "\n" not in str(failed.value)


async def test_a_hook_that_blocks_does_not_block_the_loop(tmp_path: Path) -> None:
    source = (
        "class Provisioner:\n"
        "    def create_source(self, project, source):\n"
        "        source['begun'].set()\n"
        "        assert source['may_end'].wait(10), 'the loop was blocked'\n"
    )
    provision = provision_from(tmp_path, source)
    begun, may_end = threading.Event(), threading.Event()

    hook = asyncio.create_task(
        provision.create_source(PROJECT, {"begun": begun, "may_end": may_end})
    )
    assert await asyncio.to_thread(begun.wait, 10)
    may_end.set()
    await hook


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("class Other: pass", "defines no class Provisioner"),
        ("class Provisioner: pass", "has none of the methods create_portal_link"),
        ("class Provisioner(", "cannot be imported: SyntaxError"),
        ("import no_such_module_anywhere", "cannot be imported: ModuleNotFoundError"),
        ("raise SystemExit(1)", "cannot be imported: SystemExit"),
        (
            "class Provisioner:\n    def __init__(self, url): pass",
            "cannot be created without arguments",
        ),
        (
            "class Provisioner:\n    def create_portal_links(self, project, link): pass",
            "did you mean create_portal_link?",
        ),
        (
            "class Provisioner:\n    def create_source(self, project): pass",
            "must accept (self, project, source)",
        ),
    ],
)
def test_a_class_that_cannot_be_used_is_refused(tmp_path: Path, source: str, message: str) -> None:
    with pytest.raises(BadHooks) as bad:
        provision_from(tmp_path, source)
    assert message in str(bad.value)
    assert "\n" not in str(bad.value)
    (tmp_path / "hooks.py").write_text(source)
    assert refusal(tmp_path, "provision: ./hooks.py:Provisioner\n").startswith(
        f"{tmp_path / 'target.yaml'}:3: provision"
    )


def test_a_file_of_hooks_that_does_not_exist_is_refused(tmp_path: Path) -> None:
    assert "is not a Python file" in refusal(tmp_path, "provision: ./gone.py:Provisioner\n")


def run_steps(
    *steps: HttpStep, answers: list[bytes], arguments: Mapping[str, Any] | None = None
) -> tuple[object, list[bytes]]:
    """The result of a hook of these steps, and the heads of its requests."""
    heads: list[bytes] = []

    def answer(head: bytes) -> bytes:
        heads.append(head)
        return answers[len(heads) - 1]

    with stand_in(answer) as url:
        hook = http_hook("create_portal_link", [_at(step, url) for step in steps], timeout_s=60)
        return asyncio.run(hook(arguments or {"project": {"id": "p1", "api_key": "k"}})), heads


def _at(step: HttpStep, url: str) -> HttpStep:
    return replace(step, url=url + step.url)


def test_steps_are_sent_one_after_the_other_with_what_was_kept() -> None:
    first = HttpStep(
        url="/login", headers={"X-Key": "{project.api_key}"}, keep={"token": "data.0.token"}
    )
    second = HttpStep(url="/{project.id}/links?token={token}", method="PUT", keep={"uid": "uid"})
    answers = [response(200, b'{"data":[{"token":"t1"}]}'), response(201, b'{"uid":"l1"}')]
    result, heads = run_steps(first, second, answers=answers)
    assert result == {"token": "t1", "uid": "l1"}
    assert b"POST /login" in heads[0]
    assert b"X-Key: k" in heads[0]
    assert b"PUT /p1/links?token=t1" in heads[1]


@pytest.mark.parametrize(
    ("step", "answer", "message"),
    [
        (HttpStep(url="/a"), response(404, b"no such thing"), "was answered 404: no such thing"),
        (HttpStep(url="/a", status=(201,)), response(200), "was answered 200"),
        (
            HttpStep(url="/a", keep={"uid": "data.uid"}),
            response(200, b'{"data":{}}'),
            "has no data.uid",
        ),
        (HttpStep(url="/a", keep={"uid": "uid"}), response(200, b"words"), "has no uid"),
        (HttpStep(url="/a"), b"garbage\r\n\r\n", "got no answer"),
    ],
)
def test_a_step_that_fails_is_reported_in_one_line(
    step: HttpStep, answer: bytes, message: str
) -> None:
    with pytest.raises(HookFailed) as failed:
        run_steps(step, answers=[answer])
    assert message in str(failed.value)
    assert "\n" not in str(failed.value)


def test_placeholders_become_values_and_members_without_one_are_left_out() -> None:
    values = {"source": {"name": "n", "workers": 2}, "unique": "u1"}
    assert fill_placeholders("{source}", values) == values["source"]
    assert fill_placeholders(
        {"a": "{source.workers}", "b": "{source.gone}", "c": ["x-{source.name}-{unique}"]}, values
    ) == {
        "a": 2,
        "c": ["x-n-u1"],
    }
    assert fill_placeholders("{not a placeholder}", values) == "{not a placeholder}"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("provision: {create_link: [{url: x}]}", "create_link"),
        ("provision: {create_source: []}", "provision.create_source"),
        ("provision: {create_source: [{method: POST}]}", "url"),
        ("provision: {create_source: [{url: x, methd: GET}]}", "methd"),
        ("provision: {create_source: [{url: x, method: get}]}", "GET"),
        (
            'provision: {create_source: [{url: "x/{portal_link.name}"}]}',
            "nothing gives {portal_link.name} a value",
        ),
        ("provision: hooks.py", "./hooks.py:Provisioner"),
        ("fixtures: {p9: {portal_links: [a]}}", "there is no project 'p9'"),
        ("fixtures: {portal_links: [a]}", "portal_links"),
        ("capabilities: {mtls: maybe}", "yes"),
        ("capabilities: {telepathy: no}", "telepathy"),
    ],
)
def test_a_mistake_is_refused_with_its_line(tmp_path: Path, text: str, message: str) -> None:
    line = refusal(tmp_path, f"{text}\n")
    assert line.startswith(f"{tmp_path / 'target.yaml'}:3:")
    assert message in line


def test_a_target_file_may_hold_hooks_fixtures_and_capabilities(tmp_path: Path) -> None:
    complete = target(
        tmp_path,
        'provision: {create_source: [{url: "{base_url}/x", body: {name: "{source.name}"}}]}\n'
        "fixtures: {p1: {portal_links: [l1, l2]}}\n"
        "capabilities: {mtls: no, api_key: yes, oauth2: auto}\n",
    )
    assert complete.provision.has("create_source")
    assert complete.fixtures == {"p1": Fixtures(portal_links=("l1", "l2"))}
    assert complete.capabilities == {
        "mtls": Presence.NO,
        "api_key": Presence.YES,
        "oauth2": Presence.AUTO,
    }


def test_with_a_hook_that_creates_projects_none_need_be_named(tmp_path: Path) -> None:
    path = tmp_path / "target.yaml"
    path.write_text(
        "base_url: http://127.0.0.1:1\nprovision: {fresh_project: [{url: x, keep: {id: id}}]}\n"
    )
    assert target_from(Flags(file=path), {}).projects == ()


def test_a_fresh_project_without_a_key_is_refused() -> None:
    async def create(_: Mapping[str, Any]) -> object:
        return {"id": "p1"}

    with pytest.raises(HookFailed, match="an id and an api_key"):
        asyncio.run(Provision(hooks={"fresh_project": create}).fresh_project())


def test_only_some_capabilities_may_be_lacking_by_the_document() -> None:
    lacks = lacking(
        {"api_key": Presence.NO, "mtls": Presence.NO, "oauth2": Presence.YES}, load_catalogue()
    )
    assert {name: lack.allowed for name, lack in lacks.items()} == {
        "2.5-9": True,
        "2.5-11": True,
        "2.3-17": False,
        "2.5-24": False,
        "4.1-15": False,
    }
    assert "section 2.3 of the document lists it" in lacks["2.3-17"].reason


def test_every_requirement_of_a_capability_exists() -> None:
    catalogue = load_catalogue()
    for capability in CAPABILITIES.values():
        for selector in capability.requirements:
            assert catalogue.select(selector), selector


def test_steps_to_the_target_are_sent_as_its_requests_are_and_others_are_not() -> None:
    heads: list[bytes] = []

    def answer(head: bytes) -> bytes:
        heads.append(head)
        return response(200)

    steps = [HttpStep(url="{url}/a", at_target=at_target) for at_target in (True, False)]
    with stand_in(answer) as url, http_proxy() as proxy:
        connection = ApiConnection(headers=(("X-Version", "7"),), proxy=proxy.url)
        hook = http_hook("create_source", steps, timeout_s=60, connection=connection)
        asyncio.run(hook({"url": url}))
    assert [b"X-Version: 7" in head for head in heads] == [True, False]
    assert len(proxy.heads) == 1


def test_a_step_whose_url_begins_with_that_of_the_target_is_sent_to_it(tmp_path: Path) -> None:
    text = """
connection: {proxy: "http://127.0.0.1:PORT"}
provision: {create_source: [{url: "{base_url}/sources", status: [202]}]}
"""
    with stand_in(lambda _: response(202)) as proxy:
        port = proxy.rpartition(":")[2]
        asyncio.run(
            target(tmp_path, text.replace("PORT", port)).provision.create_source(PROJECT, {})
        )
