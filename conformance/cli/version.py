"""The version of hookproof that runs."""

from importlib.metadata import PackageNotFoundError, version


def installed_version() -> str:
    """The version of the installed distribution; a source tree that is not installed has none."""
    try:
        return version("hookproof")
    except PackageNotFoundError:
        return "unknown"
