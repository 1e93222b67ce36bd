"""The script that makes the vectors, imported as a module."""

import base64
import hmac
import importlib.util
import sys
from types import ModuleType
from typing import Any

from tests.receiver.signatures.signature_vectors import VECTORS


def _load() -> ModuleType:
    path = VECTORS.with_name("make_signatures.py")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


maker: Any = _load()


def signed_by_python(case: Any) -> dict[str, Any]:
    """The case, signed in this process."""

    def sign(key: bytes, message: bytes) -> str:
        digest = hmac.digest(key, message, case.hash)
        if case.encoding == "hex":
            return digest.hex()
        return str(maker.BASE64[case.encoding](base64.b64encode(digest).decode()))

    vector: dict[str, Any] = maker.vector(case, sign)
    return vector
