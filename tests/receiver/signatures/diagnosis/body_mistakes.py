"""Signing mistakes about the body, each with a part of its diagnosis."""

import base64
import json

from tests.receiver.signatures.diagnosis.signing_mistakes import SigningMistake

SPACED = b'{"order": 1, "name": "Zo\xc3\xab <b> a/b", "price": 1.50}'

COMPACT = b'{"order":1,"name":"Zo\xc3\xab <b> a/b","price":1.50}'

ESCAPED = b'{"order": 1, "name": "Zo\\u00eb <b> a/b", "price": 1.50}'

BODIES = [
    SigningMistake(
        name="compact",
        expected="signed the compact form of the body, sent it with spaces",
        sent=SPACED,
        signed=COMPACT,
    ),
    SigningMistake(
        name="spaced",
        expected="signed the body with spaces, sent it compact",
        sent=COMPACT,
        signed=SPACED,
    ),
    SigningMistake(
        name="own white space",
        expected="signed the compact form of the body, sent it with white space of its own",
        sent=b'{ "a":1,\r\n"b": 2 }',
        signed=b'{"a":1,"b":2}',
    ),
    SigningMistake(
        name="indented",
        expected="signed the body indented by 2 spaces, sent it compact",
        sent=b'{"a":[1,{}]}',
        signed=json.dumps({"a": [1, {}]}, indent=2).encode(),
    ),
    SigningMistake(
        name="tabs",
        expected="indented by tabs",
        sent=b'{"a":[1,[],{"b":2}]}',
        signed=json.dumps({"a": [1, [], {"b": 2}]}, indent="\t").encode(),
    ),
    SigningMistake(
        name="sorted",
        expected="with its keys sorted",
        sent=b'{"b":1,"a":{"d":[{"f":1,"e":2}],"c":1}}',
        signed=b'{"a":{"c":1,"d":[{"e":2,"f":1}]},"b":1}',
    ),
    SigningMistake(
        name="ASCII", expected="characters beyond ASCII escaped", sent=SPACED, signed=ESCAPED
    ),
    SigningMistake(name="unescaped", expected="escapes resolved", sent=ESCAPED, signed=SPACED),
    SigningMistake(
        name="HTML",
        expected="<, > and & escaped",
        sent=COMPACT,
        signed=COMPACT.replace(b"<b>", b"\\u003cb\\u003e"),
    ),
    SigningMistake(
        name="slashes",
        expected="slashes escaped",
        sent=COMPACT,
        signed=COMPACT.replace(b"a/b", b"a\\/b"),
    ),
    SigningMistake(
        name="doubles",
        expected="numbers read as doubles",
        sent=b'{"n":12345678901234567890,"m":1.0,"k":1e3}',
        signed=b'{"n":12345678901234567000,"m":1,"k":1000}',
    ),
    SigningMistake(
        name="Python numbers",
        expected="read and written by Python",
        sent=b'{"m":1.50,"k":1e3}',
        signed=b'{"m":1.5,"k":1000.0}',
    ),
    SigningMistake(
        name="json.dumps",
        expected="as json.dumps of Python writes it",
        sent=COMPACT,
        signed=json.dumps(json.loads(COMPACT)).encode(),
    ),
    SigningMistake(
        name="line end lost",
        expected="with a line end after it",
        sent=COMPACT,
        signed=COMPACT + b"\n",
    ),
    SigningMistake(
        name="line end added",
        expected="without its last line end",
        sent=COMPACT + b"\n",
        signed=COMPACT,
    ),
    SigningMistake(
        name="stripped", expected="white space around it", sent=b"  text \n", signed=b"text"
    ),
    SigningMistake(
        name="CRLF",
        expected="carriage returns before its line feeds",
        sent=b"a\nb",
        signed=b"a\r\nb",
    ),
    SigningMistake(name="LF", expected="line feeds as line ends", sent=b"a\r\nb", signed=b"a\nb"),
    SigningMistake(name="empty", expected="signed an empty body", signed=b""),
    SigningMistake(name="BOM", expected="byte order mark", signed=b'\xef\xbb\xbf{"order":1}'),
    SigningMistake(
        name="form",
        expected="form encoding of the body",
        sent=b'{"a":"x y","b":2}',
        signed=b"a=x+y&b=2",
    ),
    SigningMistake(
        name="JSON of a form",
        expected="sent it form-encoded",
        sent=b"a=x+y&b=2",
        signed=b'{"a":"x y","b":"2"}',
    ),
    SigningMistake(
        name="unquoted",
        expected="percent escapes resolved",
        sent=b"a=%E6%9D%B1",
        signed="a=\u6771".encode(),
    ),
    SigningMistake(
        name="base64", expected="signed the body in base64", signed=base64.b64encode(b'{"order":1}')
    ),
    SigningMistake(
        name="decoded",
        expected="behind the body's base64",
        sent=base64.b64encode(COMPACT),
        signed=COMPACT,
    ),
    SigningMistake(
        name="listed bytes", expected="lists as numbers", sent=b"[104, 105]", signed=b"hi"
    ),
    SigningMistake(
        name="string", expected="as a string of JSON", signed=json.dumps('{"order":1}').encode()
    ),
    SigningMistake(
        name="text of a string", expected="text within the string", sent=b'"hello"', signed=b"hello"
    ),
    SigningMistake(
        name="member",
        expected="the member 'data' of the body alone",
        sent=b'{"type":"a","data":{"x":1}}',
        signed=b'{"x":1}',
    ),
    SigningMistake(
        name="Latin-1",
        expected="in Latin-1",
        sent=COMPACT,
        signed=COMPACT.decode().encode("latin-1"),
    ),
    SigningMistake(
        name="UTF-16",
        expected="in UTF-16",
        sent=COMPACT,
        signed=COMPACT.decode().encode("utf-16-le"),
    ),
    SigningMistake(
        name="mojibake",
        expected="read as Latin-1 and encoded again",
        sent=COMPACT,
        signed=COMPACT.decode("latin-1").encode(),
    ),
    SigningMistake(
        name="lossy",
        expected="replaced by U+FFFD",
        sent=b"\xff\x00a",
        signed="\ufffd\x00a".encode(),
    ),
]
