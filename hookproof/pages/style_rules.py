"""Styles of single elements as classes, since a policy by hashes forbids style attributes."""


class StyleRules:
    """Collects declarations while a page is rendered; each gets a class of its own."""

    def __init__(self) -> None:
        self._classes: dict[str, str] = {}

    def class_of(self, declarations: str) -> str:
        """The class of an element with these declarations, for example `width: 10%`."""
        return self._classes.setdefault(declarations, f"s{len(self._classes) + 1}")

    def text(self) -> str:
        """The rules of all classes."""
        return "".join(f".{name} {{ {rule} }}\n" for rule, name in self._classes.items())
