"""Augmentations, and magnitude bins with signs."""

from __future__ import annotations

import inspect
import warnings
from typing import Any, Callable, Iterable

import numpy as np

from galatea.trace.node import Node

from ... import fn, types
from ...names import getter
from ._errors import AugmentationError, MissingArgument
from ._select import called

_NOT_GIVEN: Any = object()
_BY_POSITION = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
_BY_NAME = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)


class SignedBin:
    """A magnitude bin with a sign for each sample. `bins[i]`: element i of bins and signs."""

    def __init__(self, bin: Any, random_sign: Any, signed_magnitude_idx: Any = None):
        self.bin = bin
        self.random_sign = random_sign
        # Computed here, for all samples, and read in arms.
        self.signed_magnitude_idx = (
            2 * bin + random_sign if signed_magnitude_idx is None else signed_magnitude_idx
        )

    def __getitem__(self, index: int) -> "SignedBin":
        bin = self.bin if isinstance(self.bin, int) else self.bin[index]
        return SignedBin(bin, self.random_sign[index], self.signed_magnitude_idx[index])


def signed_bin(
    magnitude_bin: Any, random_sign: Any = None, seed: int | None = None, shape: Any = None
) -> SignedBin:
    """A magnitude bin whose signs are drawn here, once for all augmentations that get it.

    `magnitude_bin`: a number, or a data node of integers; `random_sign`: a data node of 0 and 1,
    where 1 negates, in place of a draw; `seed`, `shape`: of the draw.
    """
    if not isinstance(magnitude_bin, (int, Node)):
        raise AugmentationError(
            f"a magnitude bin is a number or a data node of integers, not {magnitude_bin!r}"
        )
    if random_sign is None:
        options = {"seed": seed, "shape": shape or None}
        random_sign = fn.random.coin_flip(
            **{name: value for name, value in options.items() if value is not None}
        )
    elif seed is not None or shape is not None:
        raise AugmentationError("`seed` and `shape` are for drawing a sign; `random_sign` is one")
    return SignedBin(magnitude_bin, random_sign)


def _holds_node(value: Any) -> bool:
    if isinstance(value, (list, tuple)):
        return any(_holds_node(one) for one in value)
    return isinstance(value, Node)


def _as_constant(array: np.ndarray) -> Any:
    """A constant of the types that DALI's have: Python's numbers are of 32 bits."""
    smaller = {np.dtype(np.float64): np.float32, np.dtype(np.int64): np.int32}
    return types.Constant(array.astype(smaller.get(array.dtype, array.dtype)), device="cpu")


class Augmentation:
    """A function of data and a parameter; called with data and a magnitude bin. See `augmentation`.

    `name`, `op`, `mag_range`, `randomly_negate`, `mag_to_param`, `param_device` are what it was
    made with.
    """

    def __init__(
        self,
        op: Callable,
        mag_range: Any = None,
        randomly_negate: bool | None = None,
        mag_to_param: Callable | None = None,
        param_device: str | None = None,
        name: str | None = None,
    ):
        self._op = op
        self._config = {
            "mag_range": mag_range,
            "mag_to_param": mag_to_param,
            "randomly_negate": randomly_negate,
            "param_device": param_device,
            "name": name,
        }
        if param_device not in (None, "cpu", "gpu", "auto"):
            raise AugmentationError(
                f"`param_device` of `{self.name}` is 'cpu', 'gpu' or 'auto', not {param_device!r}"
            )
        parameters = list(inspect.signature(op).parameters.values())
        positional = [one for one in parameters if one.kind in _BY_POSITION]
        if len(positional) < 2:
            raise AugmentationError(
                f"the function of an augmentation takes data and a parameter by position; {op} "
                f"takes {len(positional)}"
            )
        kept = [one for one in parameters if one not in positional[:2] and one.kind in _BY_NAME]
        self._extras = {one.name: one.default is inspect.Parameter.empty for one in kept}

    op = property(lambda self: self._op)
    mag_range = property(lambda self: self._config["mag_range"])
    mag_to_param = property(lambda self: self._config["mag_to_param"] or np.array)
    randomly_negate = property(lambda self: self._config["randomly_negate"] or False)
    param_device = property(lambda self: self._config["param_device"] or "cpu")

    @property
    def name(self) -> str:
        """Its name: the function's, unless another one was given."""
        return self._config["name"] or self._op.__name__

    def __repr__(self) -> str:
        given = [f"{key}={value!r}" for key, value in self._config.items() if value is not None]
        return f"Augmentation({', '.join([repr(self._op), *given])})"

    def augmentation(
        self,
        mag_range: Any = _NOT_GIVEN,
        randomly_negate: Any = _NOT_GIVEN,
        mag_to_param: Any = _NOT_GIVEN,
        param_device: Any = _NOT_GIVEN,
        name: Any = _NOT_GIVEN,
        augmentation_cls: type | None = None,
    ) -> "Augmentation":
        """A copy of which some settings are others."""
        changes = {
            "mag_range": mag_range,
            "randomly_negate": randomly_negate,
            "mag_to_param": mag_to_param,
            "param_device": param_device,
            "name": name,
        }
        given = {key: value for key, value in changes.items() if value is not _NOT_GIVEN}
        return (augmentation_cls or type(self))(self._op, **{**self._config, **given})

    def __call__(
        self, data: Any, *, magnitude_bin: Any = None, num_magnitude_bins: Any = None, **kwargs: Any
    ) -> Any:
        """The function of `data` and the bin's parameter; None where there are no magnitudes.

        Other arguments reach the function where it has a parameter of that name.
        """
        parameter = self._parameter(magnitude_bin, num_magnitude_bins)
        absent = [key for key, required in self._extras.items() if required and key not in kwargs]
        if absent:
            raise MissingArgument(
                f"the augmentation `{self.name}` needs {', '.join(f'`{one}`' for one in absent)}: "
                "give it by name where the augmentations are applied",
                self,
                absent,
            )
        extras = {key: value for key, value in kwargs.items() if key in self._extras}
        return called(self._op)(data, parameter, **extras)

    # Parameters.

    def _get_magnitudes(self, count: int | None) -> np.ndarray | None:
        """The magnitude of each bin."""
        magnitudes = self.mag_range
        if magnitudes is None:
            return None
        if isinstance(magnitudes, np.ndarray):
            if count is not None and count != len(magnitudes):
                raise AugmentationError(
                    f"`{self.name}` has {len(magnitudes)} magnitudes of its own; "
                    f"num_magnitude_bins is {count}"
                )
            return magnitudes
        if count is None:
            raise AugmentationError(
                f"`{self.name}` has a range of magnitudes: give `num_magnitude_bins`, the number "
                "that it is divided into"
            )
        if not hasattr(magnitudes, "__len__") or len(magnitudes) != 2:
            raise AugmentationError(
                f"`mag_range` of `{self.name}` is a pair of numbers, or an array with a magnitude "
                f"for each bin, not {magnitudes!r}"
            )
        low, high = magnitudes
        return np.linspace(low, high, count, dtype=np.float32)

    def _map_mag_to_param(self, magnitude: Any) -> np.ndarray:
        """What a magnitude stands for."""
        value = self.mag_to_param(magnitude)
        if _holds_node(value):
            raise AugmentationError(
                f"`mag_to_param` of `{self.name}` gave a data node: it runs while the pipeline "
                "is built; compute with numpy there, and with operators in the function"
            )
        return np.asarray(value)

    def _map_mags_to_params(self, magnitudes: Iterable) -> np.ndarray:
        """What magnitudes stand for, stacked."""
        found: list[np.ndarray] = []
        for magnitude in magnitudes:
            found.append(self._map_mag_to_param(magnitude))
            if found[-1].shape != found[0].shape or found[-1].dtype != found[0].dtype:
                raise AugmentationError(
                    f"`mag_to_param` of `{self.name}` gave {found[0].dtype} of shape "
                    f"{found[0].shape} and {found[-1].dtype} of shape {found[-1].shape}; all "
                    "magnitudes have parameters of one type and shape"
                )
        return np.array(found)

    def _parameter(self, bin: Any, count: int | None) -> Any:
        magnitudes = self._get_magnitudes(count)
        if magnitudes is None:
            return None
        if bin is None:
            raise AugmentationError(f"`{self.name}` has magnitudes: give `magnitude_bin`")
        number = bin.bin if isinstance(bin, SignedBin) else bin
        if isinstance(number, int) and not 0 <= number < len(magnitudes):
            raise AugmentationError(
                f"`{self.name}` has no magnitude bin {number}; there are {len(magnitudes)}"
            )
        if not self.randomly_negate:
            if isinstance(number, int):
                return _as_constant(self._map_mags_to_params([magnitudes[number]])[0])
            return _as_constant(self._map_mags_to_params(magnitudes))[number]
        if not isinstance(bin, SignedBin):
            warnings.warn(
                f"`{self.name}` negates magnitudes at random, and its bin has no sign: one is "
                "drawn here; `signed_bin(…)` draws it once for several augmentations",
                stacklevel=3,
            )
            bin = signed_bin(bin)
        if isinstance(number, int):
            pair = self._map_mags_to_params([magnitudes[number], -magnitudes[number]])
            return _as_constant(pair)[bin.random_sign]
        both = [sign * one for one in magnitudes for sign in (1, -1)]
        return _as_constant(self._map_mags_to_params(both))[bin.signed_magnitude_idx]


__getattr__ = getter("auto_aug.core._augmentation")
