"""The JSON that events carry in the broadcast experiment: values that naive servers alter (section
4.8).

Each text is spelled as it is sent; `{marker}` in it stands for the event's marker.
"""

import json
from collections.abc import Mapping
from typing import Any, Final

MARKED: Final = '{{"marker":"{marker}","value":{value}}}'

VALUES: Final[Mapping[str, str]] = {
    "nothing but a marker": "null",
    "integers beyond 2^53": (
        "[9007199254740993,-9007199254740993,18446744073709551616,100000000000000000000000000001]"
    ),
    "numbers in many spellings": "[0,-0,1.0,1e5,1E+2,0.1,-12.50,1e-7,123456.789]",
    "key order": '{"z":1,"a":2,"m":{"y":1,"b":2},"10":1,"9":2}',
    "unicode": '"Grüße, 世界, שלום, مرحبا, e\u0301"',
    "astral characters": '"😀🏴\U000e0067\U000e007f"',
    "escaped characters": r'"\u00fc \ud83d\ude00 \" \\ \/ \b\f\n\r\t \u0001 \u2028"',
    "markup": '"<script>&amp;</script> \'%20%00+ ${x} {{y}}"',
    "literals": '[true,false,null,[],{},[[]],[{}],{"none":null,"no":false,"zero":0,"empty":""}]',
    "names of all kinds": '{"":1," ":2,"a.b":3,"$ref":"#","__proto__":{"x":1},"ключ":4}',
    "white space": '[ 1 ,\t2 , { "a" : [ ] } ]',
}

# How large the largest payload is, as far as the dialect's size limit lets it be.
LARGE_BYTES: Final = 256 * 1024

# What a body needs besides its payload.
ROOM_BYTES: Final = 4096

# How deeply a payload is nested, as far as the dialect lets it be.
LEVELS: Final = 62


def nested(levels: int) -> dict[str, Any]:
    """An object that has so many levels, itself counted."""
    value: Any = {}
    for _ in range(levels - 2):
        value = [value]
    return {"value": value}


def payloads(marker: str, *, size_limit: int, nesting: int) -> Mapping[str, str]:
    """The JSON text of each payload's `data`, an object with the marker unless it is empty.

    `size_limit` is that of a request body, in bytes, and `nesting` that of its data (section 8).
    """
    deep = json.dumps(nested(min(LEVELS, nesting))["value"], separators=(",", ":"))
    large = max(1, min(LARGE_BYTES, size_limit - ROOM_BYTES))
    texts = {name: MARKED.format(marker=marker, value=value) for name, value in VALUES.items()}
    return {
        **texts,
        "nested": MARKED.format(marker=marker, value=deep),
        "an empty object": "{}",
        "large": MARKED.format(marker=marker, value=f'"{"0123456789" * (large // 10)}"'),
    }


PAYLOADS: Final[dict[str, Any]] = {
    "empty object": {},
    "nested": {"a": {"b": [{"c": None}, [], {}]}},
    "texts": {
        "empty": "",
        "accents": "Grüße",
        "beyond the basic plane": "😀",
        "escapes": 'tab\t quote" \\ /',
    },
    "numbers": {
        "zero": 0,
        "negative": -1,
        "fraction": 0.1,
        "beyond a double's integers": 9007199254740993,
    },
    "order of keys": {"z": 1, "a": 2, "m": 3},
    "text of numbers": {"number": "007", "literal": "null"},
}
