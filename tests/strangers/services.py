"""The services that were written from the document alone: how each is started and described, which
bugs it can be given, and what may truly be said against it without any.
"""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Final

import yaml

from tests.source_tree import ROOT

SOURCES: Final = Path(__file__).parent
KEYS: Final = {"main": "key-of-main-51b2", "side": "key-of-side-88e0"}


@dataclass(frozen=True, kw_only=True)
class TrueWord:
    """What may be said against the service, as its message or what was seen reads."""

    about: str
    reason: str


@dataclass(frozen=True, kw_only=True)
class Stranger:
    name: str
    command: Sequence[str]
    # What a person would name who saw the bug: the requirements, with commas between.
    bugs: Mapping[str, str]
    true_words: Mapping[str, TrueWord] = field(default_factory=dict)
    # What a user writes into target.yaml beside the projects; empty where `learn` writes it.
    target: Mapping[str, Any] = field(default_factory=dict)
    variables: Mapping[str, str] = field(default_factory=dict)

    def expected(self, bug: str) -> frozenset[str]:
        return frozenset(self.bugs[bug].split(", "))

    def is_true(self, requirement: str, text: str) -> bool:
        word = self.true_words.get(requirement)
        return word is not None and re.search(word.about, text, re.DOTALL) is not None

    @contextmanager
    def running(self, ca: Path, *bugs: str) -> Iterator[str]:
        """The URL of the service, which trusts the CA."""
        words = [f"--project={name}={key}" for name, key in KEYS.items()]
        command = [*self.command, *words, f"--ca={ca}"]
        with started(command, ca.parent / "service.txt", *bugs, **self.variables) as url:
            yield url

    def write_target(self, folder: Path, url: str) -> Path | None:
        """Write the target file that a user of this service writes, if `learn` does not."""
        if not self.target:
            return None
        keys = ("${HOOKPROOF_API_KEY}", "${HOOKPROOF_API_KEY_2}")
        described = {
            "base_url": url,
            "projects": [
                {"id": name, "api_key": key} for name, key in zip(KEYS, keys, strict=True)
            ],
            "receiver": {"ca": "ca/ca.pem", "ca_key": "ca/ca.key"},
            **self.target,
        }
        path = folder / "target.yaml"
        # Written out, since a target file may hold no alias.
        plain = json.loads(json.dumps(described))
        path.write_text(yaml.safe_dump(plain, sort_keys=False), "utf-8")
        return path


@contextmanager
def started(command: Sequence[str], errors: Path, *bugs: str, **variables: str) -> Iterator[str]:
    """The URL of a service, which prints it when it is ready and ends with its standard input."""
    with errors.open("w") as file:
        process = subprocess.Popen(
            command,
            cwd=ROOT,
            env={**os.environ, **variables, "BUGS": ",".join(bugs)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=file,
            text=True,
        )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        yield json.loads(process.stdout.readline())["api"]
    finally:
        process.stdin.close()
        process.wait(timeout=60)
        process.stdout.close()


@cache
def go_program(name: str, folder: Path) -> Path:
    """The program of the service in the folder of this name, built into another folder."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    local = {"GOTOOLCHAIN": "local", "GOPROXY": "off", "GOFLAGS": "-mod=mod"}
    subprocess.run(
        ["go", "build", "-o", str(path), "."],
        cwd=SOURCES / name,
        env={**os.environ, **local},
        check=True,
        timeout=600,
    )
    return path


def has_go() -> bool:
    return shutil.which("go") is not None


def ledgerline(cost_ms: float = 2) -> Stranger:
    """The service, which spends that much processor time on each request and each attempt."""
    return Stranger(
        name="ledgerline",
        command=(sys.executable, "-m", "tests.strangers.ledgerline"),
        bugs=LEDGERLINE_BUGS,
        true_words=LEDGERLINE_TRUE_WORDS,
        variables={"COST_MS": f"{cost_ms:g}"},
    )


def queuepost(folder: Path) -> Stranger:
    """The service, whose program is built into the folder."""
    return Stranger(
        name="queuepost",
        command=(str(go_program("queuepost", folder)),),
        bugs=QUEUEPOST_BUGS,
        true_words=QUEUEPOST_TRUE_WORDS,
        target=QUEUEPOST_TARGET,
    )


LEDGERLINE_BUGS: Final = {
    # Signatures
    "sent_spaced_signed_compact": "6-6, 6-7",
    "clock_of_a_time_zone": "6-7, 6-11",
    "secret_cut_in_its_column": "6-6, 6-7, 2.4-3",
    "unsigned_retries": "6-9",
    "signature_overridden": "6-18, 6-13",
    # Rolls
    "simple_signed_with_the_oldest": "4.3-7",
    "second_roll_prolongs": "4.3-6",
    "expired_secret_signs": "4.3-4, 4.3-16",
    "secrets_cached": "4.3-3",
    "roll_not_saved": "4.3-13",
    "expiry_shown_in_minutes": "4.3-15, 4.3-16",
    # Paging
    "full_page_promises_more": "2.2-9, 2.2-18",
    "cursor_forgets_the_filter": "4.4-13",
    "cursor_knows_one_order": "2.2-14, 2.2-15, 4.4-4, 4.7-4, 4.4-8, 4.7-8",
    "cursor_inclusive": "2.2-14",
    "previous_page_reversed": "4.4-5, 4.7-5, 2.2-13",
    "per_page_counts_rows": "4.4-6, 4.7-6",
    "nothing_is_null": "2.2-1",
    # Keys and isolation
    "links_of_all_projects": "1-8",
    "endpoint_of_any_project": "1-4",
    "rolled_before_the_project": "5-15, 1-5",
    "beginning_of_a_key": "5-9",
    "idempotency_of_all_projects": "4.8-12",
    # Fan-out, limits, retries
    # Behind an endpoint of an earlier run that refuses, no other one gets anything.
    "one_after_the_other": "1-2, 1-1",
    "disabled_receives": "3-6",
    "limit_read_before_it_is_counted": "8-1, 8-2",
    "window_of_a_minute": "4.1-12",
    "timeout_ignored": "8-7, 8-8",
    "timeout_until_headers": "8-19",
    "retries_without_end": "1-13",
    "refused_connection_is_final": "1-17",
    "new_event_id_per_attempt": "1-20",
    "redirects_followed": "6-17, 1-18",
    # Representation
    "count_kept": "2.6-5",
    "endpoints_of_the_first_owner": "4.6-10, 4.6-11",
    "left_out_is_default": "4.6-15",
    "created_with_each_update": "2.9-13",
    # API
    "http_accepted": "8-10",
    "nul_breaks": "7-8",
}

LEDGERLINE_TRUE_WORDS: Final[Mapping[str, TrueWord]] = {}

QUEUEPOST_BUGS: Final = {
    # Signatures
    "spaces_sent_but_not_signed": "6-6, 6-7",
    "time_not_signed": "6-7",
    "keys_sorted_before_signing": "6-6, 6-7",
    # Rolls
    "replaced_secret_dropped": "4.3-2",
    "second_roll_prolongs": "4.3-6",
    "roll_answers_before": "4.3-12",
    "roll_overwrites": "4.3-13",
    "roll_resets": "4.3-11",
    "expiry_in_minutes": "4.3-15",
    "expired_secret_signs": "4.3-4, 4.3-16",
    # Paging
    "negative_page_breaks": "7-8",
    "empty_page_claims_more": "2.2-18, 8-20",
    "more_before_the_filter": "2.2-9, 2.2-18",
    "previous_page_inclusive": "4.7-5, 2.2-13",
    "sort_ignored": "4.7-8",
    # Keys and isolation
    "endpoint_of_any_project": "1-4",
    "sources_of_all_projects": "1-9",
    "broadcast_to_all_projects": "1-11",
    "roll_outside_the_group": "5-3",
    "idempotency_of_all_projects": "4.8-12",
    "api_key_forwarded": "5-16",
    # Fan-out, retries, limits
    "batch_ends_at_a_failure": "1-2, 1-1",
    "retried_without_end": "1-13",
    "server_errors_are_final": "1-16",
    "last_retry_lost": "1-12",
    "taken_twice": "4.8-15",
    "disabled_receives": "3-6",
    "one_bucket_for_all": "8-3",
    "excess_dropped": "8-4",
    "no_timeout": "8-7, 8-19",
    # Representation
    "limit_in_32_bits": "4.1-11",
    "owner_dropped": "4.1-7",
    "description_escaped": "4.1-5",
    "content_type_dropped": "4.1-8, 2.3-7",
    "numbers_are_floats": "4.8-19",
    "credentials_once": "2.5-9, 2.5-10",
    # API
    "http_taken": "8-10",
    "certificates_unchecked": "6-21",
}

_FORM: Final = '"form"|x-www-form-urlencoded'
_LICENCE: Final = "without a licence its value is fixed, or dropped"
QUEUEPOST_TRUE_WORDS: Final[Mapping[str, TrueWord]] = {
    "2.1-5": TrueWord(about="broadcast|null", reason="a broadcast is answered with data: null"),
    "4.1-10": TrueWord(about="http_timeout", reason=_LICENCE),
    "4.1-13": TrueWord(about="slack_webhook_url", reason=_LICENCE),
    "4.1-14": TrueWord(about="support_email", reason=_LICENCE),
    "6-6": TrueWord(about=_FORM, reason="the JSON is signed where a form is sent"),
    "6-7": TrueWord(about=_FORM, reason="the JSON is signed where a form is sent"),
    "1-3": TrueWord(about="project_id", reason="a key opens its project under every path"),
    "2.9-13": TrueWord(about="created_at", reason="created and fetched differ by milliseconds"),
    "8-18": TrueWord(about=".", reason="no body is too large"),
}

_API: Final = "{base_url}/api/v1/projects/{project.id}"
_KEY: Final = {"Authorization": "Bearer {project.api_key}"}
QUEUEPOST_TARGET: Final = {
    "capabilities": {"portal_links": "no"},
    "budgets": {"delivery_s": 20, "total_s": 600},
    "provision": {
        "after_endpoint_created": [
            {
                "url": f"{_API}/subscriptions",
                "headers": _KEY,
                "body": {
                    "name": "hookproof {unique}",
                    "endpoint_id": "{endpoint.uid}",
                    "filter_config": {"event_types": ["*"]},
                },
            }
        ],
        "create_source": [
            {
                "url": f"{_API}/sources",
                "headers": _KEY,
                "body": {
                    "name": "{source.name}",
                    "type": "{source.type}",
                    "provider": "{source.provider}",
                    "verifier": {
                        "type": "hmac",
                        "hmac": {
                            "header": "X-Signature",
                            "hash": "SHA256",
                            "encoding": "hex",
                            "secret": "{unique}",
                        },
                    },
                },
                "keep": {"uid": "data.uid"},
            }
        ],
    },
}
