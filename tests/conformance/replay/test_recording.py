"""What is read of a run file to be sent again."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from hookproof.conformance.replay.recording import (
    ELSEWHERE,
    NOT_WHOLE,
    TOO_LONG,
    UNFINISHED,
    Recording,
    read_recording,
)
from hookproof.conformance.replay.replaying import Replayed, replayed_cases
from hookproof.conformance.results.run_file import NAME, Header, NotARun
from hookproof.process.exit_codes import CommandError
from tests.conformance.canned_evidence import NOW, CannedObservation, delivery, exchange
from tests.conformance.canned_run import header
from tests.conformance.results.behaviour.stored_runs import observed, stored_run

MASKED = (("Authorization", "Bearer $HOOKPROOF_API_KEY"),)


def replayable(**changes: Any) -> Header:
    return replace(
        header(),
        **{
            "projects": ["p1", "p2", "p3"],
            "nonce": "aabbcc",
            "receiver_url": "https://127.0.0.1:4001",
            **changes,
        },
    )


def recording_of(folder: Path, *observations: CannedObservation, **changes: Any) -> Recording:
    run_header = replayable(**changes)
    return read_recording(stored_run(folder, *observations, run_header=run_header) / NAME)


def request(at_s: float = 0.0, **changes: Any) -> Any:
    return exchange(sent_at=NOW + at_s, **{"request_headers": MASKED, **changes})


def test_each_request_is_there_once_in_the_order_of_sending(tmp_path: Path) -> None:
    first, second, third = request(0.0), request(0.2), request(0.1)
    recording = recording_of(tmp_path, observed(first, second), observed(first, third))
    assert [each.sent_at for each in recording.requests] == [NOW, NOW + 0.1, NOW + 0.2]
    assert [len(case.exchanges) for case in recording.cases] == [2, 2]
    assert recording.lasted_s == pytest.approx(0.2)


def test_what_cannot_be_sent_again_is_counted_by_its_reason(tmp_path: Path) -> None:
    long_url = f"http://target.invalid/{'x' * 8192}...(9000 characters)"
    unfinished = (*MASKED, ("Content-Length", "1000"))
    long_bodies = [request(at_s, request_body=b"%d" % at_s * 5_000_000) for at_s in (1.0, 2.0)]
    trap = request(0.3, url="http://target.invalid@elsewhere.invalid/sources")
    recording = recording_of(
        tmp_path,
        observed(request(), request(0.1, url=long_url), request(0.2, request_headers=unfinished)),
        observed(*long_bodies, trap),
    )
    assert recording.left_out == {TOO_LONG: 1, UNFINISHED: 1, ELSEWHERE: 1}
    assert len(recording.requests) == 3


def test_a_body_that_is_not_whole_in_the_file_is_counted(tmp_path: Path) -> None:
    folder = stored_run(tmp_path, observed(request(), request(0.1)), run_header=replayable())
    lines = (folder / NAME).read_text().splitlines()
    case = json.loads(lines[1])
    case["cut_bodies"] = [
        {"of": "exchanges", "position": 1, "body": "request_body", "bytes": 9, "sha256": "0"}
    ]
    (folder / NAME).write_text("\n".join([lines[0], json.dumps(case, separators=(",", ":"))]))
    recording = read_recording(folder / NAME)
    assert recording.left_out == {NOT_WHOLE: 1}
    assert len(recording.requests) == 1


def test_projects_are_those_of_requests_and_of_their_keys(tmp_path: Path) -> None:
    foreign = (("Authorization", "Bearer $HOOKPROOF_API_KEY_3"),)
    recording = recording_of(
        tmp_path, observed(request(), request(0.1, key="foreign", request_headers=foreign))
    )
    assert recording.projects == ["p1", "p3"]


def test_the_receiver_answers_as_it_did_and_visits_use_up_nothing(tmp_path: Path) -> None:
    recording = recording_of(
        tmp_path,
        observed(
            request(),
            delivery("t1", sequence=1, method="GET"),
            delivery("t1", sequence=2, status=500),
            delivery("t1", sequence=4, status=302, completed_after=0.61),
            delivery("t2", sequence=1, status=None, completed_after=None),
        ),
    )
    first, second, third, fourth = recording.replies["t1"]
    assert [each.status for each in (first, second, third, fourth)] == [200, 500, 200, 302]
    assert (fourth.delay_s, fourth.headers) == (0.6, (("Location", "/t1"),))
    (closed,) = recording.replies["t2"]
    assert closed.cut is not None


def test_only_the_first_repetition_is_sent_again(tmp_path: Path) -> None:
    folder = stored_run(
        tmp_path, observed(request()), observed(request(1)), run_header=replayable()
    )
    lines = (folder / NAME).read_text().splitlines()
    lines[2] = lines[2].replace('"repetition":1', '"repetition":2')
    (folder / NAME).write_text("\n".join(lines))
    assert len(read_recording(folder / NAME).requests) == 1


def test_a_run_that_was_cut_off_has_a_recording(tmp_path: Path) -> None:
    folder = stored_run(tmp_path, observed(request()), run_header=replayable())
    lines = (folder / NAME).read_text().splitlines()
    (folder / NAME).write_text("\n".join(lines[:2]))
    assert len(read_recording(folder / NAME).requests) == 1


@pytest.mark.parametrize("missing", [{"nonce": ""}, {"projects": []}, {"receiver_url": ""}])
def test_a_run_of_an_earlier_version_is_refused(tmp_path: Path, missing: dict[str, Any]) -> None:
    with pytest.raises(CommandError, match="of an earlier version"):
        recording_of(tmp_path, observed(request()), **missing)


def test_a_run_without_a_request_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="no request that can be sent again"):
        recording_of(tmp_path, observed(delivery()))


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"key": "stolen"}, "a key that is 'stolen'"),
        ({"request_headers": (("Authorization", "$HOOKPROOF_API_KEY_9"),)}, "does not name"),
        ({"at_s": 1e9}, "more than a day"),
    ],
)
def test_a_file_that_was_written_to_do_harm_is_refused(
    tmp_path: Path, changes: dict[str, Any], words: str
) -> None:
    with pytest.raises(NotARun, match=words.replace("$", r"\$")):
        recording_of(tmp_path, observed(request(), request(**{"at_s": 0.1, **changes})))


def test_no_list_of_replies_is_longer_than_a_run_can_make_it(tmp_path: Path) -> None:
    recording = recording_of(tmp_path, observed(request(), delivery(sequence=10**9)))
    assert not recording.replies


def test_requests_for_access_tokens_are_not_compared(tmp_path: Path) -> None:
    oauth2 = {"authentication": {"oauth2": {"url": "https://127.0.0.1:4001/t9"}}}
    seen = observed(request(request=oauth2), delivery("t1"), delivery("t9"))
    replayed = Replayed(target="http://target.invalid", embedded=False, received=True)
    before, after = replayed_cases(recording_of(tmp_path, seen), replayed)
    assert [each.token for each in before[0].deliveries] == ["t1"]
    assert after[0].deliveries == ()
