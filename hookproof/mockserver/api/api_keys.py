"""API keys of projects (section 5): who may call what. Keys are compared in constant time."""

import hmac
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from hookproof.mockserver.api.errors import ErrorResponses
from hookproof.spec.dialect.model import Dialect
from hookproof.spec.dialect.vocabulary import Acceptance, KeyScope

KEY_ALONE: Final = "{key}"


@dataclass(frozen=True, slots=True)
class ApiKeys:
    """The keys of every project, in the form in which the Authorization header carries them."""

    _expected: Mapping[str, tuple[bytes, ...]]
    _dialect: Dialect
    _errors: ErrorResponses

    @classmethod
    def of(
        cls, projects: Mapping[str, Sequence[str]], dialect: Dialect, errors: ErrorResponses
    ) -> "ApiKeys":
        """Build the keys from the texts of keys by project id."""
        form = dialect.authentication.key_format
        expected = {
            project: tuple(form.format(key=key).encode("utf-8", "surrogateescape") for key in keys)
            for project, keys in projects.items()
        }
        return cls(expected, dialect, errors)

    @property
    def projects(self) -> tuple[str, ...]:
        return tuple(self._expected)

    def check(self, project: str, header: str | None) -> None:
        """Raise ApiError unless the header carries a key for the project.

        Only the holder of a valid key learns that a project is unknown, so that strangers cannot
        probe for project ids.
        """
        presented = b"" if header is None else header.encode("utf-8", "surrogateescape")
        if presented and self._matches(project, presented):
            return
        rules = self._dialect.authentication
        if not presented:
            raise self._errors.unauthorized(
                "missing_key", rules, "the Authorization header carries no key"
            )
        if not any(self._matches(other, presented) for other in self._expected):
            raise self._errors.unauthorized(
                "wrong_key", rules, "the Authorization header carries no valid key"
            )
        if rules.key_scope.value is KeyScope.KEY_DECIDES:
            return
        if project not in self._expected:
            raise self._errors.unknown_project()
        if rules.key_scope.value is not KeyScope.ACCOUNT:
            raise self._errors.unauthorized(
                "foreign_key", rules, "the key belongs to another project"
            )

    def opened_project(self, project: str, header: str | None) -> str:
        """The project that a request with this header is about: that of the path, unless the key
        decides.
        """
        presented = (header or "").encode("utf-8", "surrogateescape")
        if self._dialect.authentication.key_scope.value is KeyScope.KEY_DECIDES:
            return next(
                (other for other in self._expected if self._matches(other, presented)), project
            )
        return project

    def _matches(self, project: str, presented: bytes) -> bool:
        if self._is_key_of(project, presented):
            return True
        rules = self._dialect.authentication
        if not rules.other_key_formats.prefers(Acceptance.TAKEN):
            return False
        # Without the scheme that the format has, or with one if it has none.
        key = presented.rpartition(b" ")[2] if rules.key_format == KEY_ALONE else presented
        return self._is_key_of(project, rules.key_format.encode().replace(b"{key}", key))

    def _is_key_of(self, project: str, presented: bytes) -> bool:
        for expected in self._expected.get(project, ()):
            if hmac.compare_digest(expected, presented):
                return True
        return False
