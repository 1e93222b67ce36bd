"""Signing secrets are generated and taken in the form of the dialect (sections 2.3 and 2.4)."""

from dataclasses import replace

import pytest

from hookproof.mockserver.api.signing_secrets import SecretSource
from hookproof.spec.dialect.reader import load_dialect
from hookproof.spec.dialect.vocabulary import SecretForm

RULES = replace(load_dialect("contrary").signatures.secret, prefix="p_", generated_bytes=2)

# What 0xfb and 0xff are in each form.
TEXTS = {
    SecretForm.TEXT: "p_fbff",
    SecretForm.HEX: "p_fbff",
    SecretForm.BASE64: "p_+/8=",
    SecretForm.BASE64_UNPADDED: "p_+/8",
    SecretForm.BASE64URL: "p_-_8=",
    SecretForm.BASE64URL_UNPADDED: "p_-_8",
}


def source(form: SecretForm) -> SecretSource:
    return SecretSource(rules=replace(RULES, form=form), entropy=lambda _: b"\xfb\xff")


@pytest.mark.parametrize("form", SecretForm)
def test_a_secret_is_generated_in_the_form(form: SecretForm) -> None:
    assert source(form).generate() == TEXTS[form]


@pytest.mark.parametrize("form", SecretForm)
def test_a_secret_of_the_form_alone_is_taken(form: SecretForm) -> None:
    taken = {other for other, text in TEXTS.items() if source(form).accepts(text)}
    # Where every secret is a text, none is refused; and hex may be base64 by chance.
    in_hex = {SecretForm.TEXT, SecretForm.HEX}
    assert taken - in_hex == (set(TEXTS) - in_hex if form is SecretForm.TEXT else {form} - in_hex)
    assert form in taken


@pytest.mark.parametrize(
    ("text", "taken"),
    [("p_00fF", True), ("p_00f", False), ("p_0g", False), ("p_00 ff", False), ("p_", False)],
)
def test_hex_is_taken_in_either_case(text: str, taken: bool) -> None:
    assert source(SecretForm.HEX).accepts(text) is taken
