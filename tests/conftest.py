"""Settings of all tests, a folder for what the runs of all tests generate, and no other CA than
those that tests make.
"""

import os
import tempfile

import pytest
from hypothesis import HealthCheck, settings

# The variable of hookproof.conformance.generation.generators, which most tests do not need.
KEPT_IN = "HOOKPROOF_GENERATED"

# Examples may take their time: how long one takes says more about the machine than about the code.
settings.register_profile(
    "patient", settings.default, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("patient")


def pytest_configure(config: pytest.Config) -> None:
    """Let all runs share what is generated for the same seed and contract.

    The workers of xdist inherit the folder from the process that starts them.
    """
    if KEPT_IN not in os.environ:
        folder = tempfile.TemporaryDirectory(prefix="hookproof-generated-")
        config.add_cleanup(folder.cleanup)
        os.environ[KEPT_IN] = folder.name
    # aiohttp reads all certificates of the machine as it is imported, in each of the hundreds of
    # processes that are started, and each server in a test does as well; what tests connect to has
    # a certificate of theirs.
    os.environ["SSL_CERT_FILE"] = os.devnull
    os.environ["SSL_CERT_DIR"] = os.devnull
