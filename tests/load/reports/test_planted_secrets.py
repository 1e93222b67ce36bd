"""The reports of a load run have no secret of an endpoint, whatever arrives."""

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from hookproof.load.broadcast_mark import data_with_mark
from hookproof.load.reports.html_page import page, series_csv
from hookproof.load.reports.summary import console_report, summary
from hookproof.load.sidecar.arrivals import Arrivals, Endpoint, NewRun
from hookproof.load.sidecar.signatures import EndpointSignatures
from hookproof.receiver.clock import Instant
from tests.conformance.planted_credentials import ENCODINGS, credentials, traces_in
from tests.load.run.test_load_judgement import GOOD, PROFILE
from tests.load.sidecar.test_arrivals import BEGAN, DIALECT, signed

COUNT = 60


def reports(samples: dict[str, list[str]]) -> bytes:
    content = summary(
        profile=PROFILE,
        target="http://target.invalid",
        dialect="reference",
        version="1",
        outcome=replace(GOOD, samples=samples, over_time={"accepted": [], "delivered": []}),
        wrong=[f"altered is {COUNT}"],
        interrupted=False,
        left_out={},
        hooks={},
    )
    written = (json.dumps(content, ensure_ascii=False), page(content), series_csv(content))
    return "\n".join([*written, console_report(content)]).encode()


@pytest.mark.parametrize("encode", ENCODINGS.values(), ids=ENCODINGS)
def test_no_secret_is_in_any_report_of_deliveries_that_show_it(
    encode: Callable[[str], Any],
) -> None:
    secrets = [text for number, text in enumerate(credentials()) if number % 5 < 2][:COUNT]
    seen = b""
    for offset in range(0, COUNT, 5):  # so many are quoted
        arrivals = Arrivals(attempts=2)
        for number, secret in enumerate(secrets):
            signatures = EndpointSignatures(DIALECT, advanced=False, secrets=[secret], url="")
            token = f"t{number}"
            arrivals.endpoints[token] = Endpoint(token=token, signatures=signatures, limited=False)
        arrivals.begin(
            NewRun(run="run", broadcasts=COUNT, started_at=BEGAN, stretch_s=1.0, late_after_s=1.0)
        )
        for number in range(offset, offset + 5):
            secret, other = secrets[number], secrets[(number + 1) % COUNT]
            shown = json.dumps(encode(secret)).encode()
            body = data_with_mark("run", number, BEGAN, "").replace(b'"pad":""', b'"pad":' + shown)
            headers = (*signed(body, other), (b"X-Secret", secret.encode()))
            arrivals.arrived(f"t{number}", headers, body, Instant(BEGAN, 50), succeeded=True)
        samples = arrivals.diagnosed_samples()
        assert len(samples["altered"]) == len(samples["unverifiable"]) == 5
        seen += reports(samples)
    assert b"***" in seen or b"42, 42, 42" in seen
    assert traces_in(seen, secrets) == []
