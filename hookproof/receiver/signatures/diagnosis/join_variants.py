"""Other templates by which a sender may have joined body, time and identifier."""

import re
from collections.abc import Collection, Iterator, Sequence
from itertools import permutations
from typing import Final
from urllib.parse import urlsplit

from hookproof.receiver.signatures.diagnosis.deviation import Aspect, Deviation, Variant, Variants
from hookproof.receiver.signatures.schemes.request_parts import RequestLine
from hookproof.receiver.signatures.signed_message import PLACEHOLDER

NAMES: Final = {"id": "identifier", "timestamp": "time", "body": "body"}
SEPARATORS: Final = (".", ",", ":", "|", "", "\n", "-", "_", "&", ";", "/", " ")
HOST: Final = re.compile(r"[\w.-]{1,253}(:\d{1,5})?", re.ASCII)
URL: Final = re.compile(r"\{(?:decoded_)?url\}")
# Templates with the URL of the request, and what they hold.
WITH_URL: Final = {
    "{url}{body}": "the URL of the request before the body",
    "{body}{url}": "the URL of the request after the body",
    "{method}{url}{body}": "method and URL of the request before the body",
    "{url}{form}": "the URL of the request and the sorted fields of the form",
}
# A widely used template that starts with a label.
VERSIONED: Final = "v0:{timestamp}:{body}"


def join_variants(
    template: str, sent: Collection[str], line: RequestLine | None = None, host: str | None = None
) -> Variants[str]:
    """The dialect's template, and others.

    `sent` names the fields that a delivery has besides its body; `host` is that of its header.
    """
    expected = [part for index, part in enumerate(PLACEHOLDER.split(template)) if index % 2]

    def generate(distance: int) -> Iterator[Variant[str]]:
        if distance == 0:
            if set(expected) <= {"body", *sent}:
                yield Variant(value=template)
            return
        for parts in _arrangements(sent):
            for separator in SEPARATORS if len(parts) > 1 else ("",):
                joined = separator.join(f"{{{part}}}" for part in parts)
                deviations = tuple(_deviations_of(template, expected, parts, separator, joined))
                if len(deviations) == distance:
                    yield Variant(value=joined, deviations=deviations)
        if distance == 1 and "timestamp" in sent:
            yield Variant(value=VERSIONED, deviations=(_other_template(template, VERSIONED),))
        if distance == 1:
            yield from _with_urls(template, line, host, "timestamp" in sent)

    return Variants(generate)


def _with_urls(
    template: str, line: RequestLine | None, host: str | None, has_time: bool
) -> Iterator[Variant[str]]:
    """The template with another URL in it, and templates with the URL of the request."""
    for old, new in (("http://", "https://"), ("https://", "http://")):
        if old in template:
            words = f"signed {new} where {old} is in the template"
            yield _url_variant(words, template.replace(old, new))
    if line is None:
        return
    for words, url in (*other_urls(line.url), *_urls_of_host(line.url, host)):
        if "url}" in template:
            yield _url_variant(words, URL.sub(url.replace("\\", r"\\"), template))
    if "url}" not in template:
        for joined, what in WITH_URL.items():
            timed = (joined, f"{joined}{{timestamp}}", f"{{timestamp}}{joined}")
            for each in timed if has_time else timed[:1]:
                words = f"signed {what}, as {each!r} where {template!r} is expected"
                yield _url_variant(words, each)


def other_urls(url: str) -> Iterator[tuple[str, str]]:
    """URLs that a proxy may have made of the one that the sender called, with what differs."""
    parts = urlsplit(url)
    schemes = {"http": "https", "https": "http"}
    other = schemes.get(parts.scheme, "https")
    yield (
        f"signed {other}:// where the request came with {parts.scheme}://",
        parts._replace(scheme=other).geturl(),
    )
    path = parts.path.removesuffix("/") if parts.path.endswith("/") else f"{parts.path}/"
    yield f"signed the path {path!r}", parts._replace(path=path).geturl()
    if parts.query:
        yield "signed the URL without its query", parts._replace(query="").geturl()
    host = parts.netloc.rpartition(":")[0]
    if host and "]" not in parts.netloc.rpartition(":")[2]:
        yield "signed the URL without its port", parts._replace(netloc=host).geturl()


def _urls_of_host(url: str, host: str | None) -> Iterator[tuple[str, str]]:
    """The URLs of the header Host, where another was given."""
    parts = urlsplit(url)
    if host is None or host == parts.netloc or not HOST.fullmatch(host):
        return
    for scheme in ("https", "http"):
        other = parts._replace(scheme=scheme, netloc=host).geturl()
        yield f"signed the URL {other}, which has the host of the header Host", other


def _url_variant(words: str, template: str) -> Variant[str]:
    deviation = Deviation(aspect=Aspect.JOIN, words=words, remedy="url")
    return Variant(value=template, deviations=(deviation,), rare=True)


def _arrangements(sent: Collection[str]) -> Iterator[Sequence[str]]:
    """Every choice of fields, in every order; each includes the body."""
    names = [name for name in NAMES if name == "body" or name in sent]
    for count in range(1, len(names) + 1):
        yield from (chosen for chosen in permutations(names, count) if "body" in chosen)


def _deviations_of(
    template: str, expected: Sequence[str], parts: Sequence[str], separator: str, joined: str
) -> Iterator[Deviation]:
    missing = [part for part in expected if part not in parts]
    added = [part for part in parts if part not in expected]
    if missing:
        alone = ", signed the body alone" if list(parts) == ["body"] else ""
        yield _deviation(f"left the {_listed(missing)} out of what is signed{alone}")
    if added:
        yield _deviation(f"signed the {_listed(added)} too, as {joined!r}")
    kept = [part for part in expected if part in parts]
    is_reordered = kept != [part for part in parts if part in expected]
    if is_reordered:
        yield _other_template(template, joined)
    elif len(kept) > 1 and separator not in template_separators(template):
        yield _deviation(f"joined what is signed by {separator!r} where {template!r} is expected")
    elif not missing and not added and joined != template:
        yield _other_template(template, joined)
    if is_reordered and separator not in template_separators(template):
        yield _deviation(f"joined it by {separator!r}")


def template_separators(template: str) -> frozenset[str]:
    """The texts between the fields of a template."""
    return frozenset(PLACEHOLDER.split(template)[2:-1:2])


def _other_template(template: str, joined: str) -> Deviation:
    return _deviation(f"signed {joined!r} where {template!r} is expected")


def _deviation(words: str) -> Deviation:
    return Deviation(aspect=Aspect.JOIN, words=words)


def _listed(parts: Sequence[str]) -> str:
    return " and the ".join(NAMES.get(part, part) for part in parts)
