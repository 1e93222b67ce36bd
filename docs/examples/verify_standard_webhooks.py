"""Shows a vector of `hookproof vectors` to a package for Standard Webhooks.

    hookproof vectors --dialect standard-webhooks \
        --against 'python verify_standard_webhooks.py svix'

Exits with 0 if the package accepts it and with 1 if not. The package reads the clock itself, so the
clock is set to the time of the vector.
"""

import base64
import json
import sys
from datetime import datetime, tzinfo
from importlib import import_module

import standardwebhooks.webhooks  # which svix uses as well

VECTOR = json.load(sys.stdin)


class TimeOfVector(datetime):
    """The clock of the package."""

    @classmethod
    def now(cls, tz: tzinfo | None = None) -> "TimeOfVector":
        return cls.fromtimestamp(VECTOR["now"], tz)


standardwebhooks.webhooks.datetime = TimeOfVector  # type: ignore[misc]
package = import_module(f"{sys.argv[1]}.webhooks")


def is_verified(secret: str) -> bool:
    """Whether the package accepts the delivery by this secret."""
    body = base64.b64decode(VECTOR["body_b64"])
    headers = dict(reversed(VECTOR["headers"]))
    # svix returns no parsed body, so it needs none of JSON.
    options = {"json_parse": False} if sys.argv[1] == "standardwebhooks" else {}
    try:
        package.Webhook(secret).verify(body, headers, **options)
    except package.WebhookVerificationError:
        return False
    return True


sys.exit(0 if any(map(is_verified, VECTOR["secrets"])) else 1)
