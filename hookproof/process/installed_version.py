"""The version of hookproof that runs."""


def installed_version() -> str:
    """The version of the distribution, `unknown` for a source tree that is not installed."""
    from importlib.metadata import PackageNotFoundError, version  # it takes as long as click itself

    try:
        return version("hookproof")
    except PackageNotFoundError:
        return "unknown"
