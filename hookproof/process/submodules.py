"""Imports all modules of a package, for a package that registers what they hold."""

import importlib
import pkgutil
import sys


def import_all(package: str) -> None:
    """Import every module below this package, which is imported itself."""
    for module in pkgutil.walk_packages(sys.modules[package].__path__, f"{package}."):
        importlib.import_module(module.name)
