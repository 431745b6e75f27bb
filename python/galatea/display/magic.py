"""`%%galatea NAME`: cells of a notebook that are pipelines."""

from __future__ import annotations

from IPython.core.error import UsageError
from IPython.core.magic import Magics, cell_magic, magics_class
from IPython.core.magic_arguments import argument, magic_arguments
from IPython.utils.process import arg_split

from galatea.text_pipeline import TextPipeline

from .view import view

__all__ = ["GalateaMagics"]


@magics_class
class GalateaMagics(Magics):
    """The magics of `%load_ext galatea`."""

    @magic_arguments()
    @argument("name", help="the variable that becomes the pipeline: galatea.Loader takes it")
    @argument("parameters", nargs="*", metavar="PARAMETER=VALUE", help="parameters of the pipeline")
    @argument("--samples", type=int, default=8, help="how many samples are shown (8)")
    @argument("--nodes", action="store_true", help="show the pictures on the way, too")
    @argument("--draws", type=int, default=0, help="show so many random draws of one sample")
    @argument("--boxes", action="append", metavar="IMAGE=BOXES", help="draw boxes on an output")
    @argument("--points", action="append", metavar="IMAGE=POINTS", help="the same of points")
    @argument("--labels", action="append", metavar="BOXES=LABELS", help="numbers of drawn boxes")
    @argument("--no-view", action="store_true", help="compile it, and show nothing")
    @cell_magic
    def galatea(self, line: str, cell: str):
        """Compiles the cell, a text of the language, and shows what it makes as a contact sheet.

        A pipeline whose inputs a host feeds shows its text and the types of its outputs.
        """
        assert self.shell is not None
        given = self.galatea.parser.parse_intermixed_args(arg_split(line))
        if not given.name.isidentifier():
            raise UsageError(f"%%galatea: {given.name!r} is no name of a variable")
        parameters = {}
        for entry in given.parameters:
            name, equals, value = entry.partition("=")
            if not equals:
                raise UsageError(f"%%galatea: {entry!r} is no parameter; write {name}=VALUE")
            parameters[name] = value
        # The first line is the magic's: lines are those that the notebook counts.
        pipe = TextPipeline(
            cell,
            file_name=f"Cell In[{self.shell.execution_count}]",
            first_line=2,
            parameters=parameters,
        )
        self.shell.push({given.name: pipe})
        if given.no_view:
            return None
        if pipe.program().num_inputs:
            return pipe
        labels = _pairs("labels", given.labels)
        return view(
            pipe,
            samples=given.samples,
            nodes=given.nodes,
            draws=given.draws,
            boxes=_pairs("boxes", given.boxes),
            points=_pairs("points", given.points),
            labels={boxes: names[-1] for boxes, names in labels.items()},
        )


def _pairs(option: str, entries: list[str] | None) -> dict[str, list[str]]:
    """Of "NAME=NAME" each: by the first name, all second ones."""
    pairs: dict[str, list[str]] = {}
    for entry in entries or ():
        name, equals, other = entry.partition("=")
        if not (name and equals and other):
            raise UsageError(f"%%galatea: --{option} {entry} is not of the form NAME=NAME")
        pairs.setdefault(name, []).append(other)
    return pairs
