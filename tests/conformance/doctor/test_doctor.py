"""`hookproof doctor` as a user runs it: each problem is a line that says what to do."""

from pathlib import Path

import pytest
import yaml
from trustme import CA

from hookproof.receiver.http.authority import Authority
from tests.conformance.command import CommandResult, run_command
from tests.conformance.reference_server import RECEIVER_SETTINGS, project_settings, reference_server
from tests.conformance.scripted_target import closed_port, empty_page, response, stand_in
from tests.source_tree import ROOT


def doctor(folder: Path, *words: str, **settings: object) -> CommandResult:
    """Run the command; `settings`, if any, are written to a target file for it."""
    if settings:
        (folder / "target.yaml").write_text(yaml.safe_dump(settings))
        words = ("--target", "target.yaml", *words)
    return run_command(folder, "doctor", *words, timeout_s=300)


def projects(**keys: str) -> list[dict[str, str]]:
    return [{"id": name, "api_key": key} for name, key in keys.items()]


def failures(done: CommandResult) -> list[str]:
    return [line for line in done.out.splitlines() if line.startswith("FAIL")]


def test_a_certificate_of_ones_own_that_is_not_trusted_is_named(tmp_path: Path) -> None:
    issued = CA().issue_cert("127.0.0.1")
    (tmp_path / "own.pem").write_bytes(issued.cert_chain_pems[0].bytes())
    (tmp_path / "own.key").write_bytes(issued.private_key_pem.bytes())
    with reference_server(tmp_path, ROOT, "p1") as ready:
        done = doctor(
            tmp_path,
            base_url=ready["api"],
            projects=project_settings("p1"),
            receiver={"tls_cert": "own.pem", "tls_key": "own.key"},
            budgets={"delivery_s": 8},
        )
    (failure,) = failures(done)
    assert failure.startswith("FAIL  the target trusts the receiver's certificate: it connected ")
    assert "own.pem must be for the host of the receiver's URL" in failure
    assert "ca.pem" not in failure


def test_a_ready_target_passes(tmp_path: Path) -> None:
    with reference_server(tmp_path, ROOT, "p1", "p2") as ready:
        done = doctor(
            tmp_path,
            base_url=ready["api"],
            projects=project_settings("p1", "p2"),
            receiver=RECEIVER_SETTINGS,
        )
    assert (done.code, done.err, failures(done)) == (0, "", []), done.out
    assert [line.split(maxsplit=1)[0] for line in done.out.splitlines()] == [
        *["ok"] * 10,
        "note",
    ]
    assert "ok    a delivery arrives" in done.out


def test_a_wrong_key_and_a_ca_that_is_not_trusted_are_separate_failures(tmp_path: Path) -> None:
    with reference_server(tmp_path, ROOT, "p1", "p2", trusts_ca=False) as ready:
        done = doctor(
            tmp_path,
            base_url=ready["api"],
            projects=projects(p1="key-p1", p2="wrong"),
            receiver=RECEIVER_SETTINGS,
            budgets={"delivery_s": 8},
        )
    assert done.code == 64
    key_failure, ca_failure = failures(done)
    assert key_failure.startswith("FAIL  the key of project p2 is accepted: refused with 401")
    assert ca_failure.startswith("FAIL  the target trusts the receiver's CA: it connected ")


def test_a_key_that_is_accepted_in_another_form_names_the_field_of_the_dialect(
    tmp_path: Path,
) -> None:
    bare = tmp_path / "bare.yaml"
    bare.write_text(
        "{name: bare, summary: bare, extends: reference, authentication: {key_format: '{key}'}}"
    )
    settings = {"projects": project_settings("p1"), "receiver": RECEIVER_SETTINGS}
    with reference_server(tmp_path, ROOT, "p1", options=("--dialect", str(bare))) as ready:
        wrong = doctor(tmp_path, base_url=ready["api"], **settings)
        right = doctor(tmp_path, "--dialect", "bare.yaml", base_url=ready["api"], **settings)
    assert wrong.code == 64
    assert failures(wrong) == [
        (
            "FAIL  the key of project p1 is accepted: authentication.key_format says"
            " 'Bearer {key}'; the target accepts the key as '{key}'"
        )
    ]
    assert (right.code, failures(right)) == (0, []), right.out


def test_a_receiver_that_the_target_cannot_reach_is_reported(tmp_path: Path) -> None:
    with reference_server(tmp_path, ROOT, "p1") as ready, closed_port() as url:
        public_url = url.replace("http://", "https://")
        done = doctor(
            tmp_path,
            base_url=ready["api"],
            projects=project_settings("p1"),
            receiver={**RECEIVER_SETTINGS, "public_url": public_url},
            budgets={"delivery_s": 2},
        )
    (failure,) = failures(done)
    assert failure.startswith(
        f"FAIL  the target reaches the receiver at {public_url}: no connection came"
    )


def test_a_target_file_without_a_ca_is_reported_with_the_command_that_makes_one(
    tmp_path: Path,
) -> None:
    with reference_server(tmp_path, ROOT, "p1") as ready:
        done = doctor(tmp_path, base_url=ready["api"], projects=project_settings("p1"))
    assert done.code == 64
    assert "hookproof ca DIR" in failures(done)[0]


def test_a_target_out_of_reach_ends_with_its_own_code(tmp_path: Path) -> None:
    with closed_port() as url:
        done = doctor(tmp_path, base_url=url, projects=projects(p1="k"))
    assert done.code == 4
    assert failures(done)[0].startswith(f"FAIL  the target answers at {url}: ")


@pytest.mark.parametrize(
    ("date", "message"),
    [
        (
            b"Date: Mon, 01 Jan 2001 00:00:00 GMT",
            "s behind: signed times and expiries would be misjudged",
        ),
        (b"Date: Fri, 01 Jan 2100 00:00:00 GMT", "s ahead"),
    ],
)
def test_a_clock_that_is_wrong_is_reported(tmp_path: Path, date: bytes, message: str) -> None:
    page = empty_page(b"").partition(b"\r\n\r\n")[2]
    with stand_in(lambda _: response(200, page, date)) as url:
        done = doctor(tmp_path, base_url=url, projects=projects(p1="k"))
    assert done.code == 64
    assert message in failures(done)[0]


def test_the_refusal_of_an_endpoint_is_reported_with_the_targets_own_message(
    tmp_path: Path,
) -> None:
    def refuse_writes(head: bytes) -> bytes:
        if head.startswith(b"GET"):
            return empty_page(head)
        return response(400, b'{"message":"no such field: name"}')

    Authority(tmp_path / "ca")
    with stand_in(refuse_writes) as url:
        done = doctor(tmp_path, base_url=url, projects=projects(p1="k"), receiver=RECEIVER_SETTINGS)
    assert done.code == 64
    assert "createEndpoint was answered 400" in failures(done)[0]
    assert "no such field: name" in failures(done)[0]


@pytest.mark.parametrize("words", [(), ("http://127.0.0.1:1",), ("--target", "gone.yaml")])
def test_wrong_usage_is_reported_in_one_line(tmp_path: Path, words: tuple[str, ...]) -> None:
    done = doctor(tmp_path, *words)
    assert (done.code, done.out, done.err.count("\n")) == (64, "", 1)


def test_a_success_without_an_endpoint_is_reported_and_the_rest_is_tried(tmp_path: Path) -> None:
    no_data = ("--fault", "changed_member:operation=createEndpoint,member=data,value=null")
    with reference_server(tmp_path, ROOT, "p1", options=no_data) as ready:
        done = doctor(
            tmp_path,
            base_url=ready["api"],
            projects=project_settings("p1"),
            receiver=RECEIVER_SETTINGS,
        )
    assert done.code == 64, done.out
    (failure,) = failures(done)
    assert failure.startswith("FAIL  an endpoint can be created: createEndpoint was answered 201")
    assert "ok    a delivery arrives" in done.out


def test_what_was_not_tried_is_not_called_ok(tmp_path: Path) -> None:
    with stand_in(lambda _: response(401)) as url:
        done = doctor(tmp_path, base_url=url, projects=projects(p1="k"))
    assert done.code == 64, done.out
    skipped = [line for line in done.out.splitlines() if line.startswith("skip")]
    assert skipped == [
        "skip  the target's clock agrees with ours: not tried, since its answers have no Date",
        "skip  a delivery arrives: not tried, since the key of project p1 is not accepted",
    ]


def test_a_page_that_is_not_an_answer_of_this_api_does_not_accept_a_key(tmp_path: Path) -> None:
    with stand_in(lambda _: response(200, b"<html></html>")) as url:
        done = doctor(tmp_path, base_url=url, projects=projects(p1="k"))
    assert done.code == 64, done.out
    assert failures(done)[0].startswith("FAIL  the key of project p1 is accepted: GET ")
