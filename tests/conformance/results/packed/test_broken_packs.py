"""Packs that were changed, cut or made to do harm: each is refused in a line and leaves nothing."""

import io
import zipfile
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Final

import pytest

from hookproof.conformance.results.packed import manifest, reading
from hookproof.conformance.results.packed.manifest import MANIFEST, SIGNATURE
from hookproof.conformance.results.run_file import NAME
from tests.conformance.results.packed.packs import (
    Members,
    canned_pack,
    changed_pack,
    member,
    run,
    with_manifest,
)

SYMLINK: Final = 0o120777


def with_member(
    name: str, data: bytes = b"x", mode: int = 0o100644
) -> Callable[[Members], Members]:
    return lambda members: [*members, (member(name, mode), data)]


def altered(name: str) -> Callable[[Members], Members]:
    """Another content of the same length."""
    return lambda members: [
        (info, data[:-1] + bytes([data[-1] ^ 1]) if info.filename == name else data)
        for info, data in members
    ]


def longer(name: str) -> Callable[[Members], Members]:
    return lambda members: [
        (info, data + b" " if info.filename == name else data) for info, data in members
    ]


def without(name: str) -> Callable[[Members], Members]:
    return lambda members: [(info, data) for info, data in members if info.filename != name]


def as_link(name: str) -> Callable[[Members], Members]:
    return lambda members: [
        (member(name, SYMLINK) if info.filename == name else info, data) for info, data in members
    ]


MEMBERS: Final = {
    "a changed file": (altered("summary.md"), "summary.md in it is not as it was packed"),
    "a changed run": (altered(NAME), "run.jsonl in it is not as it was packed"),
    "a longer file": (longer(NAME), "run.jsonl in it is not as it was packed"),
    "a missing file": (without("summary.md"), "it holds no summary.md"),
    "no manifest": (without(MANIFEST), "it holds no manifest.json"),
    "a path": (with_member("../evil"), "'../evil', which its manifest.json does not list"),
    "an absolute path": (with_member("/evil"), "'/evil', which"),
    "a link": (as_link("summary.md"), "'summary.md', which is a link"),
    "a long manifest": (
        lambda members: [*without(MANIFEST)(members), (member(MANIFEST), b" " * 70_000)],
        "its manifest.json has more than",
    ),
    "a broken manifest": (
        lambda members: [*without(MANIFEST)(members), (member(MANIFEST), b"{")],
        "its manifest.json cannot be read",
    ),
}


def listed(**changes: object) -> Callable[[dict[str, list[dict[str, object]]]], object]:
    """A change of what the manifest says of the second file."""
    return lambda written: written["files"][1].update(changes)


MANIFESTS: Final = {
    "a path": (listed(name="../summary.md"), "'../summary.md', which is no name"),
    "an absolute path": (listed(name="/outside"), "which is no name"),
    "a hidden file": (listed(name=".bashrc"), "which is no name"),
    "its own name": (listed(name=MANIFEST), "which is no name"),
    "a name with a line break": (listed(name="a\nb"), "which is no name"),
    "the same file twice": (listed(name=NAME.upper()), "lists a file twice"),
    "too many bytes": (listed(bytes=2**40), "more than 1,073,741,824 bytes"),
    "a negative length": (listed(bytes=-1), "more than"),
    "another format": (lambda written: written.update(format=2), "it has format 2"),
    "another tool": (lambda written: written["tool"].update(name="x"), "cannot be read"),
    "too many files": (
        lambda written: written["files"].extend(
            {"name": f"f{number}", "bytes": 0, "sha256": ""} for number in range(40)
        ),
        "more than 32 files",
    ),
}


def refusal(folder: Path, content: bytes) -> str:
    """What unpacking says, which leaves nothing behind; reports and `regrade` say no less."""
    packed, out = folder / "run.zip", folder / "out"
    packed.write_bytes(content)
    result = run("report", "--format", "files", packed, "-o", out)
    assert (result.exit_code, result.stdout, result.stderr.count("\n")) == (64, "", 1), (
        result.stderr
    )
    assert not out.exists()
    return result.stderr


@pytest.mark.parametrize("name", MEMBERS)
def test_members_that_differ_from_the_manifest_are_named(tmp_path: Path, name: str) -> None:
    change, words = MEMBERS[name]
    assert words in refusal(tmp_path, changed_pack(canned_pack(tmp_path), change))


@pytest.mark.parametrize("name", MANIFESTS)
def test_a_manifest_that_is_not_safe_to_follow_is_refused(tmp_path: Path, name: str) -> None:
    change, words = MANIFESTS[name]
    assert words in refusal(tmp_path, with_manifest(canned_pack(tmp_path), change))


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_a_member_that_is_there_twice_is_refused(tmp_path: Path) -> None:
    content = changed_pack(canned_pack(tmp_path), with_member("summary.md"))
    assert "holds a file twice" in refusal(tmp_path, content)


def test_a_member_that_grows_is_read_no_further_than_it_was_packed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A megabyte of zeros stands for a bomb; a header may say that it is as short as was packed."""
    content = changed_pack(
        canned_pack(tmp_path),
        lambda members: [
            (info, b"\0" * 1_000_000 if info.filename == "summary.md" else data)
            for info, data in members
        ],
    )
    lengths = (1_000_000).to_bytes(4, "little"), (1000).to_bytes(4, "little")
    read: list[int] = []
    whole_read = zipfile.ZipExtFile.read

    def counted(self: zipfile.ZipExtFile, size: int = -1) -> bytes:
        read.append(len(data := whole_read(self, size)))
        return data

    monkeypatch.setattr(zipfile.ZipExtFile, "read", counted)
    assert "summary.md in it is not as it was packed" in refusal(tmp_path, content)
    assert max(read) < 100_000
    assert "it is damaged" in refusal(tmp_path, content.replace(*lengths))
    assert max(read) < 100_000


def test_a_directory_with_many_members_is_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    many = io.BytesIO()
    with zipfile.ZipFile(many, "w") as archive:
        for number in range(manifest.MOST_FILES + 3):
            archive.writestr(f"f{number}", b"")
    monkeypatch.setattr(reading, "ZipFile", None)
    assert "more than 32 files" in refusal(tmp_path, many.getvalue())
    short = canned_pack(tmp_path)
    locator = b"PK\x06\x07" + bytes(16)
    assert "more than 32 files" in refusal(tmp_path, short[:-22] + locator + short[-22:])


def test_an_archive_of_something_else_is_no_pack(tmp_path: Path) -> None:
    other = io.BytesIO()
    with zipfile.ZipFile(other, "w") as archive:
        archive.writestr("readme.txt", b"hello")
    assert "it holds no manifest.json" in refusal(tmp_path, other.getvalue())
    compressed = changed_pack(
        canned_pack(tmp_path), lambda members: [(_with_lzma(info), data) for info, data in members]
    )
    assert "compressed in a way that is not read" in refusal(tmp_path, compressed)


def _with_lzma(info: zipfile.ZipInfo) -> zipfile.ZipInfo:
    info.compress_type = zipfile.ZIP_LZMA
    return info


def test_an_encrypted_member_is_refused(tmp_path: Path) -> None:
    content = bytearray(canned_pack(tmp_path))
    for beginning, flags in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        place = content.index(beginning)
        content[place + flags] |= 1
    assert "is encrypted" in refusal(tmp_path, bytes(content))


@pytest.mark.parametrize("length", [0, 3, 21, 22, 60, -1, -30])
def test_a_pack_that_is_cut_off_is_refused_by_every_command(tmp_path: Path, length: int) -> None:
    content = canned_pack(tmp_path)[:length]
    refusal(tmp_path, content)
    for words in (
        ("report", "--format", "json"),
        ("regrade",),
        ("compare", "--page"),
        ("compare", "source"),
    ):
        result = run(
            words[0],
            *(tmp_path / word if word == "source" else word for word in words[1:]),
            tmp_path / "run.zip",
        )
        assert (result.exit_code, result.stderr.count("\n")) == (64, 1), result.output


def test_a_changed_run_is_refused_by_every_command_that_reads_packs(tmp_path: Path) -> None:
    packed = tmp_path / "run.zip"
    packed.write_bytes(changed_pack(canned_pack(tmp_path), altered(NAME)))
    for words in (("report", "--format", "json"), ("regrade",), ("compare", "--page")):
        result = run(*words, packed)
        assert (result.exit_code, result.stdout, result.stderr.count("\n")) == (64, "", 1)
        assert "run.jsonl in it is not as it was packed" in result.stderr


def test_a_pack_in_which_any_byte_is_another_is_refused_or_equal(tmp_path: Path) -> None:
    content = canned_pack(tmp_path)
    expected = (tmp_path / "source" / NAME).read_bytes()
    packed, out = tmp_path / "run.zip", tmp_path / "out"
    random = Random(0)
    refused = 0
    for number in range(150):
        place = random.randrange(len(content))
        changed = bytearray(content)
        changed[place] ^= 1 << random.randrange(8)
        packed.write_bytes(changed)
        result = run("report", "--format", "files", packed, "-o", out / str(number))
        assert result.exit_code in (0, 64), result.output
        assert result.stderr.count("\n") == (result.exit_code == 64)
        refused += result.exit_code == 64
        if result.exit_code == 0:
            assert (out / str(number) / NAME).read_bytes() == expected
    assert refused > 100


def test_a_signature_of_another_length_is_refused(tmp_path: Path) -> None:
    content = changed_pack(canned_pack(tmp_path), with_member(SIGNATURE, b"x" * 100))
    packed = tmp_path / "run.zip"
    packed.write_bytes(content)
    public = tmp_path / "public.pem"
    public.write_text(
        "-----BEGIN PUBLIC KEY-----\n"
        "MCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE=\n"
        "-----END PUBLIC KEY-----\n"
    )
    result = run(
        "report", "--format", "files", packed, "-o", tmp_path / "out", "--verify-key", public
    )
    assert (result.exit_code, result.stderr.count("\n")) == (64, 1)
    assert "its manifest.sig has more than 64 bytes" in result.stderr
