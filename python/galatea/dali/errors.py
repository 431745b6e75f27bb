"""Errors of `galatea.dali`: the classes that DALI has for what the engine reports."""

from __future__ import annotations

import re

from galatea import GalateaError

from . import terms


class PipelineError(GalateaError, RuntimeError):
    """A pipeline cannot be compiled, or its data cannot be processed."""


class OperatorError(PipelineError, ValueError, TypeError, IndexError):
    """An operator refuses its inputs or arguments.

    DALI has one of these classes for each kind of mistake; who catches any of them catches it.
    """


class ConstantError(PipelineError, TypeError, OverflowError):
    """A value cannot be a constant: its kind, for which DALI has the first class, or its size."""


class TooLargeError(OverflowError, RuntimeError):
    """A number has more than 32 bits and no type: DALI's second class is that of more than 64."""


class NumberOfInputsError(ValueError, TypeError):
    """A call has too few or too many inputs: DALI's second class is that of dynamic mode."""


class NumberOfRangesError(ValueError, RuntimeError):
    """More ranges than axes: DALI's tensors raise the first class, its batches the second."""


class NothingFedError(PipelineError, IndexError):
    """An input has no batch."""


class DeviceError(RuntimeError, ValueError):
    """There is no such device. DALI's operators raise the first class, its constants the second."""

    def __init__(self, device: object):
        super().__init__(f'there is no device "{device}"; there are "cpu" and "gpu"')


class NoInputError(KeyError, RuntimeError):
    """A pipeline has no such input. DALI raises RuntimeError where an operator has that name."""

    def __init__(self, name: object):
        super().__init__(f'the pipeline has no input with the name "{name}"')

    __str__ = BaseException.__str__  # a KeyError shows its message as a Python text


# Codes of what an operator refuses: the shape of a call, types, layouts, values of a sample.
_REFUSED = {"G0453", "G0456", "G0457", "G0458", "G0459", "G0460", "G0860", "G0910", "G0911"}
_NO_CONSTANT = {"G0412", "G0413"}


def _with_terms(error: GalateaError) -> str:
    """The text of an error, and a note with the terms of DALI's users."""
    text = str(error)
    found = terms.of([error.message, *(one.message for one in error.diagnostics[1:])], text)
    margin = re.search(r"^ +(?== )", text, re.MULTILINE)
    indent = margin[0] if margin else "  "
    return "\n".join([text, *(f"{indent}= note: in DALI's terms: {one}" for one in found)])


def raised(error: GalateaError) -> PipelineError:
    """The class that DALI has for what the engine reports, with its diagnostics."""
    kind = PipelineError
    if error.code in _REFUSED:
        kind = OperatorError
    elif error.code in _NO_CONSTANT:
        kind = ConstantError
    made = kind(_with_terms(error))
    made.code, made.message = error.code, error.message
    made.diagnostics = error.diagnostics
    return made
