"""Whole load runs against a server that needs hooks: it delivers only to subscribed endpoints."""

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from hookproof.receiver.http.authority import Authority
from tests.conformance.bare_server import HOOKS, bare_server
from tests.conformance.reference_server import write_target_file
from tests.load.embedded import figures, hookproof_load, report

TWENTY = ("smoke", "--rate", "20", "--duration", "1")
PROVISION = "./hooks.py:Provisioner"


@pytest.fixture(name="url")
def _url(tmp_path: Path) -> Iterator[str]:
    with bare_server(tmp_path) as url:
        yield url


def load(
    folder: Path, url: str, *arguments: str, source: str = HOOKS, **further: object
) -> subprocess.CompletedProcess[str]:
    (folder / "hooks.py").write_text(source)
    file = write_target_file(folder, url, "p1", **further)
    return hookproof_load(folder, *arguments, "--target", str(file))


def failing(hook: str, *, when: str = "True") -> str:
    """The hooks, one of which fails where an expression is true of its arguments."""
    head = next(line for line in HOOKS.splitlines() if f"def {hook}(" in line)
    return HOOKS.replace(head, f"{head}\n        if {when}: raise ValueError('no such plan')")


def test_what_an_endpoint_needs_after_its_creation_is_done_by_the_hook(
    tmp_path: Path, url: str
) -> None:
    outcome = load(tmp_path, url, *TWENTY, provision=PROVISION)
    assert outcome.returncode == 0, outcome.stdout + outcome.stderr
    assert (figures(tmp_path)["delivered"], report(tmp_path)["hooks"]) == (
        20,
        {"after_endpoint_created": 1},
    )
    assert "the hook after_endpoint_created is called for each endpoint (1)" in outcome.stdout
    assert "hooks     after_endpoint_created 1" in outcome.stdout


def test_without_the_hook_nothing_arrives_and_the_run_says_what_may_be_missing(
    tmp_path: Path, url: str
) -> None:
    outcome = load(tmp_path, url, *TWENTY, "--drain", "1")
    assert outcome.returncode == 1, outcome.stdout + outcome.stderr
    assert figures(tmp_path)["lost"] == 20
    assert "provision" in outcome.stdout.splitlines()[-2]


def test_a_hook_that_fails_for_some_endpoints_is_reported_once_and_nothing_is_sent(
    tmp_path: Path, url: str
) -> None:
    some = failing("after_endpoint_created", when="endpoint['name'].endswith(('3', '4'))")
    outcome = load(tmp_path, url, "fanout", source=some, provision=PROVISION)
    assert outcome.returncode == 64, outcome.stdout + outcome.stderr
    [line] = outcome.stderr.splitlines()
    assert "the provision hook after_endpoint_created failed: ValueError: no such plan" in line
    assert "(10 of 45 calls of it failed)" in line
    assert not (tmp_path / "report.json").exists()


def test_a_mix_finds_the_portal_links_and_sources_that_the_hooks_create(
    tmp_path: Path, url: str
) -> None:
    outcome = load(tmp_path, url, "api-mix", "--rate", "50", "--duration", "1", provision=PROVISION)
    assert outcome.returncode == 0, outcome.stdout + outcome.stderr
    shown = report(tmp_path)
    assert shown["left_out"] == {}
    assert (shown["hooks"]["create_portal_link"], shown["hooks"]["create_source"]) == (6, 6)


def test_a_hook_that_creates_no_portal_link_leaves_out_what_needs_one(
    tmp_path: Path, url: str
) -> None:
    broken = failing("create_portal_link")
    mix = ("api-mix", "--rate", "50", "--duration", "1")
    outcome = load(tmp_path, url, *mix, source=broken, provision=PROVISION)
    assert outcome.returncode == 0, outcome.stdout + outcome.stderr
    shown = report(tmp_path)
    failure = (
        "the provision hook create_portal_link failed: ValueError: no such plan (hooks.py, line"
    )
    assert shown["left_out"]["create_portal_link"].startswith(failure)
    assert "no portal link" in shown["left_out"]["updatePortalLink"]
    assert shown["hooks"]["create_portal_link"] == 1


FRESH = """
class Fresh(Provisioner):
    def fresh_project(self):
        return {"id": "p1", "api_key": "key-p1"}
"""
WITHOUT_PROJECT = """
base_url: {url}
provision: ./hooks.py:Fresh
receiver: {{ca: ca/ca.pem, ca_key: ca/ca.key}}
"""


def load_fresh(folder: Path, url: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    (folder / "hooks.py").write_text(HOOKS + FRESH)
    file = folder / "target.yaml"
    file.write_text(WITHOUT_PROJECT.format(url=url))
    return hookproof_load(folder, *arguments, "--target", str(file))


def test_a_run_without_a_project_is_in_a_fresh_one(tmp_path: Path, url: str) -> None:
    outcome = load_fresh(tmp_path, url, *TWENTY)
    assert outcome.returncode == 0, outcome.stdout + outcome.stderr
    assert figures(tmp_path)["delivered"] == 20


def test_a_fresh_project_is_refused_where_its_key_is_not_known_to_the_workers(
    tmp_path: Path,
) -> None:
    Authority(tmp_path / "ca")
    outcome = load_fresh(tmp_path, "http://127.0.0.1:1", "--master", "--expect-workers", "2")
    assert outcome.returncode == 64, outcome.stdout + outcome.stderr
    [line] = outcome.stderr.splitlines()
    assert "name a project in the target file" in line
