"""`hookproof report` of packs, and the commands that read a pack as they read a folder."""

import subprocess
from pathlib import Path
from zipfile import ZipFile

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519

from hookproof.conformance.results.packed.manifest import is_signed_by
from hookproof.conformance.results.run_file import NAME
from tests.conformance.canned_run import failed, finished_run, passed
from tests.conformance.command import check
from tests.conformance.results.packed.packs import run
from tests.conformance.scripted_target import empty_page, stand_in

KEY = ("--project", "p1", "--api-key", "secret-key")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The folder of a run, in which other things lie about."""
    folder = tmp_path / "run"
    folder.mkdir()
    finished_run(folder, passed(), failed())
    (folder / "summary.md").write_text("A summary\n")
    (folder / "ca.key").write_text("private")
    return folder


def write_keys(folder: Path, key: ed25519.Ed25519PrivateKey | None = None) -> tuple[Path, Path]:
    key = key or ed25519.Ed25519PrivateKey.generate()
    private, public = folder / "key.pem", folder / "public.pem"
    private.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )
    public.write_bytes(
        key.public_key().public_bytes(
            serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
        )
    )
    return private, public


def test_what_is_unpacked_is_what_was_packed(tmp_path: Path, folder: Path) -> None:
    assert run("report", "--format", "pack", folder, "-o", tmp_path / "run.zip").exit_code == 0
    result = run(
        "report", "--format", "files", tmp_path / "run.zip", "-o", tmp_path / "new" / "again"
    )
    assert (result.exit_code, result.stderr) == (0, "")
    again = {path.name: path.read_bytes() for path in (tmp_path / "new" / "again").iterdir()}
    assert again == {name: (folder / name).read_bytes() for name in (NAME, "summary.md")}


def test_equal_files_make_equal_packs_at_any_time(tmp_path: Path, folder: Path) -> None:
    packs = [tmp_path / "one.zip", tmp_path / "two.zip"]
    run("report", "--format", "pack", folder, "-o", packs[0])
    for path in folder.iterdir():
        path.write_bytes(path.read_bytes())
        path.chmod(0o600)
    run("report", "--format", "pack", folder, "-o", packs[1])
    assert packs[0].read_bytes() == packs[1].read_bytes()
    with ZipFile(packs[0]) as archive:
        assert {info.date_time for info in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}


def test_reports_and_comparisons_read_a_pack_as_they_read_its_folder(
    tmp_path: Path, folder: Path
) -> None:
    packed = tmp_path / "run.zip"
    run("report", "--format", "pack", folder, "-o", packed)
    for words in (("report", "--format", "json"), ("report", "--format", "html", "--partial")):
        results = [run(words[0], place, *words[1:]) for place in (packed, folder)]
        assert results[0].exit_code == 0, results[0].output
        assert results[0].stdout == results[1].stdout
    assert run("compare", folder, packed).stdout.startswith("No requirement has another verdict.")


def test_a_packed_run_is_regraded_into_a_folder(tmp_path: Path) -> None:
    with stand_in(empty_page) as url:
        only = ("--profile", "quick", "--only", "5", "--out", "run")
        assert check(tmp_path, url, *KEY, *only).code == 1
    folder, packed = tmp_path / "run", tmp_path / "run.zip"
    run("report", "--format", "pack", folder, "-o", packed)
    results = [
        run("regrade", place, "--out", tmp_path / name)
        for name, place in (("of_folder", folder), ("of_pack", packed))
    ]
    assert results[1].stdout.startswith("The same verdicts.")
    assert [result.exit_code for result in results] == [1, 1]
    written = [(tmp_path / name / NAME).read_bytes() for name in ("of_folder", "of_pack")]
    assert written[0] == written[1]


def test_a_run_that_was_cut_off_is_packed_with_a_note(tmp_path: Path, folder: Path) -> None:
    lines = (folder / NAME).read_text().splitlines(keepends=True)
    (folder / NAME).write_text("".join(lines[:-1]))
    packed = tmp_path / "run.zip"
    result = run("report", "--format", "pack", folder, "-o", packed)
    assert (result.exit_code, result.stderr.count("\n")) == (0, 1)
    assert "was cut off" in result.stderr
    assert run("report", packed, "--format", "json").exit_code == 64
    shown = [run("report", place, "--partial", "--format", "json") for place in (packed, folder)]
    assert shown[0].exit_code == 0, shown[0].output
    assert shown[0].stdout == shown[1].stdout


@pytest.mark.parametrize("content", [None, "", "no run\n"])
def test_what_holds_no_run_is_not_packed(tmp_path: Path, content: str | None) -> None:
    if content is not None:
        (tmp_path / NAME).write_text(content)
    result = run("report", "--format", "pack", tmp_path, "-o", tmp_path / "run.zip")
    assert (result.exit_code, result.stderr.count("\n")) == (64, 1)
    assert NAME in result.stderr
    assert not (tmp_path / "run.zip").exists()


def test_a_pack_is_signed_as_openssl_signs_and_verified(tmp_path: Path, folder: Path) -> None:
    private, public = write_keys(tmp_path)
    packed, out = tmp_path / "run.zip", tmp_path / "out"
    run("report", "--format", "pack", folder, "-o", packed, "--key", private)
    result = run("report", "--format", "files", packed, "-o", out, "--verify-key", public)
    assert (result.exit_code, result.stderr) == (0, "")
    assert "signed by the key" in result.stdout
    with ZipFile(packed) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    for name in ("manifest.json", "manifest.sig"):
        (tmp_path / name).write_bytes(members[name])
    command = "openssl pkeyutl -verify -pubin -inkey public.pem -rawin"
    files = ["-in", "manifest.json", "-sigfile", "manifest.sig"]
    verified = subprocess.run(
        [*command.split(), *files], cwd=tmp_path, capture_output=True, check=False
    )
    assert verified.returncode == 0, verified.stdout


def test_a_signature_that_is_not_asked_for_is_said_to_be_unverified(
    tmp_path: Path, folder: Path
) -> None:
    private, _ = write_keys(tmp_path)
    run("report", "--format", "pack", folder, "-o", tmp_path / "run.zip", "--key", private)
    result = run("report", "--format", "files", tmp_path / "run.zip", "-o", tmp_path / "out")
    assert "signed, not verified" in result.stdout


@pytest.mark.parametrize("signed", [True, False], ids=["by another key", "by none"])
def test_a_pack_that_the_key_did_not_sign_is_refused(
    tmp_path: Path, folder: Path, *, signed: bool
) -> None:
    private, public = write_keys(tmp_path)
    packed, out = tmp_path / "run.zip", tmp_path / "out"
    run("report", "--format", "pack", folder, "-o", packed, *(("--key", private) if signed else ()))
    _, public = write_keys(tmp_path)
    result = run("report", "--format", "files", packed, "-o", out, "--verify-key", public)
    assert (result.exit_code, result.stdout, result.stderr.count("\n")) == (64, "", 1)
    assert ("signed by another key" if signed else "not signed") in result.stderr
    assert not out.exists()


def test_a_key_that_signed_something_else_did_not_sign_this() -> None:
    key = ed25519.Ed25519PrivateKey.generate()
    assert is_signed_by(key.public_key(), b"a", key.sign(b"a"))
    assert not is_signed_by(key.public_key(), b"b", key.sign(b"a"))


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (None, "cannot be read"),
        (b"no key", "in PEM form"),
        ("another kind", "another kind than Ed25519"),
        ("encrypted", "is encrypted"),
    ],
)
def test_a_key_that_cannot_be_used_is_refused_in_one_line(
    tmp_path: Path, folder: Path, content: bytes | str | None, words: str
) -> None:
    private = tmp_path / "key.pem"
    if isinstance(content, bytes):
        private.write_bytes(content)
    elif content is not None:
        is_other = content == "another kind"
        key = (
            ec.generate_private_key(ec.SECP256R1())
            if is_other
            else ed25519.Ed25519PrivateKey.generate()
        )
        private.write_bytes(
            key.private_bytes(
                serialization.Encoding.PEM,
                serialization.PrivateFormat.PKCS8,
                serialization.NoEncryption()
                if is_other
                else serialization.BestAvailableEncryption(b"password"),
            )
        )
    result = run("report", "--format", "pack", folder, "-o", tmp_path / "run.zip", "--key", private)
    assert (result.exit_code, result.stderr.count("\n")) == (64, 1)
    assert words in result.stderr
    assert not (tmp_path / "run.zip").exists()
    if content != "encrypted":
        result = run(
            "report",
            "--format",
            "files",
            tmp_path / "run.zip",
            "-o",
            tmp_path,
            "--verify-key",
            private,
        )
        assert (result.exit_code, result.stderr.count("\n")) == (64, 1)


def test_no_file_is_overwritten(tmp_path: Path, folder: Path) -> None:
    packed, out = tmp_path / "run.zip", tmp_path / "out"
    run("report", "--format", "pack", folder, "-o", packed)
    out.mkdir()
    (out / "summary.md").write_text("mine")
    result = run("report", "--format", "files", packed, "-o", out)
    assert (result.exit_code, result.stderr.count("\n")) == (64, 1)
    assert "summary.md exists" in result.stderr
    assert {path.name: path.read_text() for path in out.iterdir()} == {"summary.md": "mine"}


def test_no_link_is_followed_where_it_is_unpacked(tmp_path: Path, folder: Path) -> None:
    packed, out, elsewhere = tmp_path / "run.zip", tmp_path / "out", tmp_path / "elsewhere"
    run("report", "--format", "pack", folder, "-o", packed)
    out.mkdir()
    (out / NAME).symlink_to(elsewhere)
    assert run("report", "--format", "files", packed, "-o", out).exit_code == 64
    assert not elsewhere.exists()


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ((), "Missing option '--format'"),
        (("--format", "pack"), "--format pack needs --output"),
        (("--format", "files"), "--format files needs --output"),
        (("--format", "html", "--key", "key.pem"), "--key is for --format pack"),
        (("--format", "json", "--verify-key", "key.pem"), "--verify-key for files"),
        (("-o", "out", "--format", "pack", "--verify-key", "key.pem"), "--verify-key for files"),
    ],
)
def test_what_does_not_go_together_is_refused(
    words: tuple[str, ...], expected: str, folder: Path
) -> None:
    outcome = run("report", folder, *words)
    assert outcome.exit_code != 0
    assert expected in outcome.stderr


def test_a_pack_alone_is_unpacked(folder: Path, tmp_path: Path) -> None:
    run("report", folder, "--format", "pack", "-o", tmp_path / "run.zip")
    outcome = run("report", tmp_path / "run.zip", "-o", tmp_path / "again")
    assert (outcome.exit_code, (tmp_path / "again" / NAME).exists()) == (0, True)
    assert "not signed" in outcome.stdout
