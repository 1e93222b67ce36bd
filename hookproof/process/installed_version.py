"""The version of hookproof that runs. Cheap to import: the standard library alone."""

from importlib.metadata import PackageNotFoundError, version


def installed_version() -> str:
    """The version of the distribution, `unknown` for a source tree that is not installed."""
    try:
        return version("hookproof")
    except PackageNotFoundError:
        return "unknown"
