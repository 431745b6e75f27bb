"""Errors of tracing: what a Python function did that no pipeline can hold."""

from __future__ import annotations

from galatea.errors import Diagnostic, UserError


class TraceError(UserError, TypeError):
    """A Python construct that cannot become a pipeline; the text says what to write instead.

    `place` is the `Place` of the user's code that did it, or None.
    """

    def __init__(self, message: str, place=None, help: str | None = None):
        text = message
        if place is not None:
            text += f"\n --> {place}"
            source = place.source_line()
            if source:
                text += f"\n  | {source.strip()}"
        if help:
            text += f"\n  = help: {help}"
        super().__init__(text)
        self.message = message
        self.place = place
        self.help = help
        self.diagnostics = (
            Diagnostic(
                code=None,
                severity="error",
                message=message,
                file=place.file if place else None,
                line=place.line if place else None,
                column=(place.column or None) if place else None,
                end_line=(place.end_line or None) if place else None,
                end_column=(place.end_column or None) if place else None,
                help=help,
            ),
        )

    def __reduce__(self):
        return type(self), (self.message, self.place, self.help)


class NoTruth(TraceError):
    """Python asked for the truth of a data node."""


class NoLiteral(TraceError):
    """A value that the language has no literal of; `value` is it."""

    value: object = None


class UnknownOperator(TraceError, AttributeError):
    """`fn` holds no operator of this name."""
