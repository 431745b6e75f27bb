"""Errors of automatic augmentation: plain exceptions, as in DALI."""


class AugmentationError(Exception):
    """An augmentation, a policy or a call of one is wrong."""


class MissingArgument(AugmentationError):
    """An augmentation needs an argument that it was not given."""

    def __init__(self, message: str, augmentation, missing_args: list[str]):
        super().__init__(message)
        self.augmentation = augmentation
        self.missing_args = missing_args


class UnusedArgument(AugmentationError):
    """No augmentation takes an argument that was given."""

    def __init__(self, message: str, unused_args: list[str]):
        super().__init__(message)
        self.unused_args = unused_args
