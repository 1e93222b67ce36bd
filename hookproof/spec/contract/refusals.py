"""The bodies that error responses can have, by their status (section 7)."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from jsonschema_rs import Draft202012Validator

from hookproof.spec.dialect.answer import Answer
from hookproof.spec.dialect.groups.errors import KEY_REFUSALS, REFUSALS
from hookproof.spec.dialect.model import Dialect


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorForm:
    """One form of a refusal: the schema of its body and its template; both None if it has none."""

    validator: Draft202012Validator | None = field(repr=False)
    template: object


EMPTY: Final = ErrorForm(validator=None, template=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorForms:
    """The form that most refusals have, and those of single refusals, by the name of the refusal.

    A status alone does not say which refusal it belongs to, so that it may have several forms.
    """

    dialect: Dialect
    usual: ErrorForm
    own: Mapping[str, ErrorForm]

    def of(self, status: int | None) -> tuple[ErrorForm, ...]:
        """The forms that a refusal with this status may have, at least one.

        Raises Undecided if the dialect's forms are only assumed.
        """
        _ = self.dialect.errors.body, self.dialect.errors.bodies
        forms = list(self._own_forms(status))
        return (*forms, self.usual) if not forms or self._is_usual(status) else tuple(forms)

    def _own_forms(self, status: int | None) -> Iterator[ErrorForm]:
        for refusal, form in self.own.items():
            if any(answer.allows(status) for answer in self._statuses(refusal)):
                yield form

    def _is_usual(self, status: int | None) -> bool:
        """Whether a refusal that has no body of its own may have this status."""
        return any(
            answer.allows(status)
            for refusal in (*KEY_REFUSALS, *REFUSALS)
            if refusal not in self.own
            for answer in self._statuses(refusal)
        )

    def _statuses(self, refusal: str) -> tuple[Answer[int], ...]:
        if refusal in KEY_REFUSALS:
            return (getattr(self.dialect.authentication, KEY_REFUSALS[refusal]),)
        return self.dialect.errors.statuses(refusal)
