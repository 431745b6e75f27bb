"""What a policy takes a sample."""

from .document import load


class Cost:
    """Measures a pipeline with a policy: ``Cost("train.dali-dsl", data="photos")(document)``.

    `pipeline` is what `galatea.Loader` takes, and loads one policy by ``policy.load``; or a function
    that gives such a pipeline for a document, which holds the document itself. Called with a policy
    it gives microseconds a sample: the processor time of all operators, the least of `repeats` runs
    over `samples` samples. What is the same for all policies (reading, decoding) is in it.
    """

    def __init__(self, pipeline, *, samples: int = 256, repeats: int = 3, **arguments):
        if samples < 1 or repeats < 1:
            raise ValueError(f"samples and repeats are 1 or more, not {samples} and {repeats}")
        self._pipeline = pipeline
        self._samples = samples
        self._repeats = repeats
        self._arguments = arguments

    def __call__(self, document) -> float:
        document = load(document)
        return min(self._measure(document) for _ in range(self._repeats))

    def _measure(self, document) -> float:
        from ..loader import Loader
        from ..pipeline import PipelineFunction

        if callable(self._pipeline) and not isinstance(self._pipeline, PipelineFunction):
            loader = Loader(self._pipeline(document), **self._arguments)
        else:
            loader = Loader(self._pipeline, policies=[document], **self._arguments)
        with loader:
            taken = 0
            for batch in loader:
                taken += len(batch.ids)
                if taken >= self._samples:
                    break
            if taken == 0:
                raise ValueError("the pipeline has no samples: there is nothing to measure")
            operators = loader.statistics()["operators"]
        # Samples that were made ahead count as well.
        made = max([each["calls"] for each in operators if each["kind"] == "read"], default=taken)
        return 1e6 * sum(each["seconds"] for each in operators) / made
