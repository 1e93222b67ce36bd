"""`learn` and `doctor` clean up at the target whatever moment they are stopped at."""

import signal
from pathlib import Path

import pytest

from hookproof.process.exit_codes import ExitCode
from hookproof.receiver.http.authority import Authority
from tests.conformance.command import run_command
from tests.conformance.noting_hooks import HOOKS, PROVISION, done, of
from tests.conformance.reference_server import reference_server, write_target_file
from tests.conformance.scripted_target import closed_port
from tests.process.interrupted_command import stopped_before
from tests.source_tree import ROOT

SIGNALS = (signal.SIGINT, signal.SIGTERM)
PROVISIONED = "hookproof.target.hooks.provision:Provision"
REMOVING = (f"{PROVISIONED}.remove_endpoint", f"{PROVISIONED}.after_run")
QUICKLY = ("learn", "--profile", "quick")
LEARNING = "hookproof.conformance.learning"
INTERRUPTED = """
    def fresh_project(self):
        import os, signal, threading

        note("fresh")
        os.kill(os.getpid(), signal.SIGTERM)
        threading.Event().wait()
"""


def noted_by(folder: Path, place: str, *words: str, number: signal.Signals) -> list[str]:
    """What the hooks of a command have noted that was stopped at this place."""
    (folder / "hooks.py").write_text(HOOKS)
    with reference_server(folder, ROOT, "p1") as server:
        target = write_target_file(folder, server["api"], "p1", provision=PROVISION)
        stopped = stopped_before(place, folder, *words, "--target", str(target), number=number)
    assert stopped.returncode in (ExitCode.INTERRUPTED, ExitCode.INCOMPLETE), stopped.stderr
    assert "Traceback" not in stopped.stderr
    return done(folder)


@pytest.mark.parametrize("number", SIGNALS)
@pytest.mark.parametrize("place", [f"{LEARNING}.deliveries.learning:gather_deliveries", *REMOVING])
def test_learning_that_is_stopped_removes_what_it_has_created(
    tmp_path: Path, place: str, number: signal.Signals
) -> None:
    noted = noted_by(tmp_path, place, *QUICKLY, number=number)
    assert len(of("removed", noted)) > 1
    assert of("removed", noted) >= of("created", noted)
    assert noted[-1] == "over"
    assert noted.count("over") == 1


def test_learning_that_is_stopped_in_an_experiment_removes_what_that_has_created(
    tmp_path: Path,
) -> None:
    place = "hookproof.conformance.experiments.context:Trial.observe"
    noted = noted_by(tmp_path, place, "learn", number=signal.SIGINT)
    assert of("removed", noted) >= of("created", noted) != set()
    assert noted[-1] == "over"
    assert noted.count("over") == 1


@pytest.mark.parametrize("number", SIGNALS)
@pytest.mark.parametrize(
    "place", ["hookproof.receiver.client.control_api:ReceiverClient.deliveries", *REMOVING]
)
def test_a_doctor_that_is_stopped_removes_what_it_has_created(
    tmp_path: Path, place: str, number: signal.Signals
) -> None:
    noted = noted_by(tmp_path, place, "doctor", number=number)
    assert of("removed", noted) == of("created", noted) != set()
    assert noted[-1] == "over"
    assert noted.count("over") == 1


@pytest.mark.parametrize("words", [QUICKLY, ("doctor",)])
def test_what_ends_a_run_is_called_where_a_project_was_to_be_created(
    tmp_path: Path, words: tuple[str, ...]
) -> None:
    (tmp_path / "hooks.py").write_text(HOOKS + INTERRUPTED)
    with closed_port() as url:
        write_target_file(tmp_path, url, provision=PROVISION)
        Authority(tmp_path / "ca")
        stopped = run_command(tmp_path, *words, "--target", "target.yaml")
    assert stopped.code == ExitCode.INTERRUPTED, stopped.err
    assert done(tmp_path) == ["fresh", "over"]
