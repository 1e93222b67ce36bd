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


@pytest.mark.parametrize("form", [form for form in SecretForm if form is not SecretForm.TEXT])
def test_a_secret_of_the_form_alone_is_taken(form: SecretForm) -> None:
    taken = {other for other, text in TEXTS.items() if source(form).accepts(text)}
    assert taken - {SecretForm.TEXT} == {form}
