"""The pytest11 entry point: adds the options, and nothing else until one of them is used.

    pytest --hookproof-target target.yaml

pytest imports this module at each start, so it imports nothing else of the project.
"""

import pytest

# Name, placeholder and help of each option that takes a value.
OPTIONS = (
    (
        "target",
        "FILE",
        "Judge the server of this target file; a Python file that its provision names is run.",
    ),
    ("url", "URL", "Judge the server at this address; the key comes from HOOKPROOF_API_KEY."),
    ("project", "ID", "Project to work in; HOOKPROOF_PROJECT by default."),
    ("ca-dir", "DIR", "Folder of the CA that the target trusts, made by `hookproof ca`."),
    ("dialect", "NAME", "Name or file of the target's dialect."),
    ("profile", "NAME", "How much to try: quick, standard (default) or deep."),
    ("level", "NAME", "Judge up to this level: stated, then open, then hygiene (default)."),
    ("seed", "N", "Seed of the random choices; 0 by default."),
    (
        "baseline",
        "FILE",
        "File of known verdicts that are accepted: these tests are expected failures.",
    ),
)


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("hookproof", "judge a webhook delivery service")
    for name, placeholder, words in OPTIONS:
        group.addoption(f"--hookproof-{name}", metavar=placeholder, help=words)
    group.addoption(
        "--hookproof-embedded",
        action="store_true",
        help="Judge the reference server that comes with hookproof.",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Register the plugin if an option names a server to judge."""
    wanted = ("hookproof_target", "hookproof_url", "hookproof_embedded")
    if any(config.getoption(name) for name in wanted) and not config.getoption("version", 0):
        from hookproof.conformance.pytest_plugin.host import host_for

        config.pluginmanager.register(host_for(config), "hookproof-host")
