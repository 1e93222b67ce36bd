"""What a hook of the target file sends is noted with its placeholders and without credentials."""

from hookproof.conformance.results.redaction import Mask
from hookproof.conformance.target.hooks.noted_calls import noted_calls
from hookproof.target.hooks.http_steps import HttpStep, http_hook
from hookproof.target.hooks.provision import Provision
from tests.conformance.canned_evidence import context
from tests.conformance.canned_run import PROJECTS

STEP = HttpStep(
    url="http://admin:pass-4711@target.invalid/p/{project.id}/subscriptions",
    headers={
        "Authorization": "Bearer {project.api_key}",
        "X-Admin": "admin-token-4711",
        "X-Both": "key {project.api_key} token-4711",
        "Content-Type": "application/json",
    },
    body={
        "endpoint_id": "{endpoint.uid}",
        "secret": "hidden-4711",
        "client_secret": "{endpoint.secrets.0.value}",
        "types": ["*"],
        "key": "key-one",
    },
    keep={"uid": "data.uid"},
)


def test_a_request_of_a_hook_is_noted_without_credentials() -> None:
    hook = http_hook("after_endpoint_created", [STEP], timeout_s=1.0)
    mask = Mask(PROJECTS, context().dialect)
    (noted,) = noted_calls(Provision(hooks={"after_endpoint_created": hook}), mask.quotation)
    assert "4711" not in str(noted)
    assert noted["url"].endswith("@target.invalid/p/{project.id}/subscriptions")
    assert noted["headers"] == [
        ["Authorization", "Bearer {project.api_key}"],
        ["X-Admin", "$HOOKPROOF_HEADER_X_ADMIN"],
        ["X-Both", "$HOOKPROOF_HEADER_X_BOTH"],
        ["Content-Type", "application/json"],
    ]
    assert noted["body"] == {
        "endpoint_id": "{endpoint.uid}",
        "secret": "(masked)",
        "client_secret": "{endpoint.secrets.0.value}",
        "types": ["*"],
        "key": "(masked)",
    }
    assert (noted["method"], noted["keep"]) == ("POST", {"uid": "data.uid"})


def test_nothing_is_noted_of_a_hook_in_python() -> None:
    async def hook(_arguments: object) -> object:
        return None

    assert noted_calls(Provision(hooks={"after_endpoint_created": hook}), str) == []
