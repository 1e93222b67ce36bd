"""What a run leaves at a target that has no operation to remove an endpoint."""

import json
import re
import signal
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from hookproof.conformance.model.ledger import LeftBehind, LeftEndpoint
from hookproof.process.exit_codes import ExitCode
from tests.conformance.command import check, command_line, environment, run_command, with_signals
from tests.conformance.noting_hooks import HOOKS, PROVISION, done, of
from tests.conformance.reference_server import reference_server, write_target_file
from tests.polling import poll_until
from tests.process.interrupted_command import stopped_before
from tests.source_tree import ROOT

ONLY = ("--profile", "quick", "--only", "6-10")


def left_at_target(folder: Path) -> dict[str, Any]:
    report = json.loads((folder / "hookproof-report" / "report.json").read_text())
    left: dict[str, Any] = report["left_at_target"]
    return left


def test_hooks_remove_what_was_created_and_end_the_run(tmp_path: Path) -> None:
    (tmp_path / "hooks.py").write_text(HOOKS)
    with reference_server(tmp_path, ROOT, "p1") as server:
        write_target_file(tmp_path, server["api"], "p1", provision=PROVISION)
        judged = check(tmp_path, "--target", "target.yaml", *ONLY)
    assert judged.code == 0, judged.out
    noted, left = done(tmp_path), left_at_target(tmp_path)
    assert of("created", noted)
    assert of("removed", noted) >= of("created", noted)
    assert noted[-1] == "over"
    assert noted.count("over") == 1
    assert left == {"endpoints": [], "removed": len(of("removed", noted)), "earlier": 0}
    assert "are left at the target" not in judged.out


def test_what_is_left_is_listed_and_known_to_the_next_run(tmp_path: Path) -> None:
    with reference_server(tmp_path, ROOT, "p1") as server:
        write_target_file(tmp_path, server["api"], "p1")
        first = check(tmp_path, "--target", "target.yaml", *ONLY)
        left = left_at_target(tmp_path)
        again = check(tmp_path, "--target", "target.yaml", *ONLY)
    assert (first.code, again.code) == (0, 0), first.out + again.out
    endpoints = left["endpoints"]
    active = [each["uid"] for each in endpoints if not each["is_disabled"]]
    assert all(each["uid"] and each["project"] == "p1" for each in endpoints)
    words = f"{len(endpoints)} endpoints are left at the target, {len(active)} of them active"
    assert words in " ".join(first.out.split())
    assert left["earlier"] == 0
    assert "earlier runs" not in first.out
    assert left_at_target(tmp_path)["earlier"] == len(active)
    assert f"{len(active)} endpoints that earlier runs left get each event" in " ".join(
        again.out.split()
    )


def test_a_run_that_is_interrupted_cleans_up_too(tmp_path: Path) -> None:
    (tmp_path / "hooks.py").write_text(HOOKS)
    with reference_server(tmp_path, ROOT, "p1") as server:
        write_target_file(tmp_path, server["api"], "p1", provision=PROVISION)
        process = subprocess.Popen(
            with_signals(command_line("check", "--target", "target.yaml", "--profile", "quick")),
            cwd=tmp_path,
            env=environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        poll_until(lambda: process.poll() is not None or done(tmp_path), "a hook has run")
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=300)
    assert process.returncode == 3, out
    noted = done(tmp_path)
    assert noted[-1] == "over"
    assert of("removed", noted) >= of("created", noted)


def test_learning_names_a_failing_hook_once_and_cleans_up(tmp_path: Path) -> None:
    broken = HOOKS.replace('note(f"created', "1 / 0  # ")
    (tmp_path / "hooks.py").write_text(broken)
    with reference_server(tmp_path, ROOT, "p1") as server:
        write_target_file(tmp_path, server["api"], "p1", provision=PROVISION)
        learned = run_command(tmp_path, "learn", "--target", "target.yaml", "--profile", "quick")
        examined = run_command(tmp_path, "doctor", "--target", "target.yaml")
    assert learned.code == 0, learned.err
    words = "Your provision hook after_endpoint_created failed: ZeroDivisionError"
    assert learned.out.count("ZeroDivisionError") == learned.out.count(words) == 1
    assert ": the provision hook after_endpoint_created failed)" in learned.out
    assert "0 endpoints are left at the target" in learned.out
    assert examined.code == 64, examined.out
    noted = done(tmp_path)
    assert len(of("removed", noted)) > 1
    assert noted[-1] == "over"
    assert noted.count("over") == 2, "of learn and of the doctor"


def test_learning_lists_what_it_leaves_and_counts_what_earlier_runs_left(tmp_path: Path) -> None:
    words = ("learn", "--target", "target.yaml", "--profile", "quick")
    with reference_server(tmp_path, ROOT, "p1") as server:
        write_target_file(tmp_path, server["api"], "p1")
        first = run_command(tmp_path, *words)
        page = (tmp_path / "hookproof" / "learned.html").read_text()
        again = run_command(tmp_path, *words)
    assert (first.code, again.code) == (0, 0), first.err + again.err
    (line,) = (each for each in first.out.splitlines() if each.endswith("would remove them."))
    count, active = re.match(
        r"(\d+) endpoints are left at the target, (\d+) of them", line
    ).groups()
    assert "learned.html names them" in line
    assert len(re.findall(r"<code>\w{26}</code></td><td>p1</td><td>(?:active|dis)", page)) == int(
        count
    )
    assert page.count("<td>active</td>") == int(active) > 1
    assert f"{count} endpoints are left at the target, {active} of them active, with URLs" in page
    assert "earlier runs" not in first.out + page
    words = f"{active} endpoints that earlier runs left get each event"
    assert words in again.out
    assert words in (tmp_path / "hookproof" / "learned.html").read_text()


@pytest.mark.parametrize("dialect", ["reference", "standard-webhooks"])
def test_a_doctor_names_what_it_leaves_and_counts_what_earlier_runs_left(
    tmp_path: Path, dialect: str
) -> None:
    words = ("doctor", "--target", "target.yaml", "--dialect", dialect)
    with reference_server(tmp_path, ROOT, "p1", options=("--dialect", dialect)) as server:
        write_target_file(tmp_path, server["api"], "p1")
        first, second, third = (run_command(tmp_path, *words) for _ in range(3))
    assert (first.code, second.code, third.code) == (0, 0, 0), first.out + third.out
    assert re.search(
        r"^note  the endpoint \S+ of project p1: 1 endpoint is left at the target, active, with a"
        " URL that leads nowhere; a hook remove_endpoint would remove it.$",
        first.out,
        re.MULTILINE,
    )
    assert "earlier runs" not in first.out
    assert "1 endpoint that earlier runs left gets each event of this one too" in second.out
    assert "2 endpoints that earlier runs left get each event of this one too" in third.out


def test_a_doctor_that_is_stopped_names_what_it_leaves_and_the_hook_that_failed(
    tmp_path: Path,
) -> None:
    (tmp_path / "hooks.py").write_text(HOOKS.replace('note(f"removed', "1 / 0  # "))
    place = "hookproof.receiver.client.control_api:ReceiverClient.deliveries"
    with reference_server(tmp_path, ROOT, "p1") as server:
        target = write_target_file(tmp_path, server["api"], "p1", provision=PROVISION)
        stopped = stopped_before(place, tmp_path, "doctor", "--target", str(target))
    assert stopped.returncode == ExitCode.INTERRUPTED, stopped.stderr
    (uid,) = of("created", done(tmp_path))
    assert f"the endpoint {uid} of project p1: 1 endpoint is left" in stopped.stdout
    assert "FAIL  the hooks that clean up work: remove_endpoint failed: Zero" in stopped.stdout


def test_an_identifier_that_is_a_credential_is_masked_where_it_is_left() -> None:
    own = LeftEndpoint(project="p1", uid="of key-p1", is_disabled=False)
    left = LeftBehind(endpoints=(own,), removed=2, earlier=3)
    shown = left.masked(lambda text: text.replace("key-p1", "***"))
    assert shown == replace(left, endpoints=(replace(own, uid="of ***"),))
