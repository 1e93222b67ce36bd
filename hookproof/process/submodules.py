"""Imports all modules of a package, for a package that registers what they hold."""

import importlib
import pkgutil


def import_all(package: str, named: str = "") -> None:
    """Import every module below this package, or those with this last name alone."""
    path = importlib.import_module(package).__path__
    for module in pkgutil.walk_packages(path, f"{package}."):
        if not named or module.name.endswith(f".{named}"):
            importlib.import_module(module.name)
