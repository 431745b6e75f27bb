"""Errors of `galatea.dali`: the classes that DALI has for what the engine reports."""

from __future__ import annotations

from galatea import GalateaError


class PipelineError(GalateaError, RuntimeError):
    """A pipeline cannot be compiled, or its data cannot be processed."""


class NothingFedError(PipelineError, IndexError):
    """An input has no batch."""


def raised(error: GalateaError) -> PipelineError:
    """The class that DALI has for what the engine reports, with its diagnostics."""
    made = PipelineError(str(error))
    made.code, made.message = error.code, error.message
    made.diagnostics = error.diagnostics
    return made
