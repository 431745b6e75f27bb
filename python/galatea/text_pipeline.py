"""Pipelines that are written as text, as objects: the text with its parameters."""

from __future__ import annotations

from typing import Any

from galatea.pipeline import Pipeline

__all__ = ["TextPipeline"]


class TextPipeline(Pipeline):
    """A text of the language with values of its parameters: what a loader takes as a `Pipeline`.

    ``TextPipeline(text, data="photos")`` compiles it, so that its errors are raised here. `name`
    says which pipeline, where the text has several. A loader may set parameters once more:
    ``Loader(pipe, data="others")``. Messages call the text `file_name`, and count its lines from
    `first_line`; files that it imports are looked for in the folder of `file_name`.
    """

    def __init__(
        self,
        text: str,
        *,
        name: str | None = None,
        file_name: str = "<text>",
        first_line: int = 1,
        parameters: dict[str, Any] | None = None,
        **more_parameters: Any,
    ):
        super().__init__(name or "", text, {}, [], {}, [], file_name)
        self.first_line = first_line
        self.parameters = {**(parameters or {}), **more_parameters}
        self.name = self.program().name

    def __repr__(self) -> str:
        given = "".join(f" {name}={value!r}" for name, value in self.parameters.items())
        return f"<galatea.TextPipeline {self.name}{given}>"

    def __reduce__(self):
        return _made_again, (self.__dict__,)

    def with_parameters(self, parameters: dict[str, Any]) -> "TextPipeline":
        """The same text with other values of these parameters."""
        return _made_again({**self.__dict__, "parameters": {**self.parameters, **parameters}})

    def file_name(self) -> str:
        """The name of the text in messages; imports are looked for in its folder."""
        return self.file

    def compile_arguments(self) -> dict[str, Any]:
        """Arguments of `_c.Program` but for the engine."""
        from galatea.arguments import parameter_texts

        arguments: dict[str, Any] = {
            "text": "\n" * (self.first_line - 1) + self.text,
            "file_name": self.file,
            "parameters": parameter_texts(self.parameters),
        }
        return {**arguments, "pipeline": self.name} if self.name else arguments


def _made_again(fields: dict[str, Any]) -> TextPipeline:
    pipe = TextPipeline.__new__(TextPipeline)
    pipe.__dict__.update(fields)
    return pipe
