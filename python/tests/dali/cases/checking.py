"""What several files of cases ask with: no cases of its own."""

import fnmatch


def refused(m, kinds, glob, function):
    """Asserts the class and the words of what a function raises."""
    try:
        function()
    except kinds as error:
        assert fnmatch.fnmatchcase(str(error), glob), str(error)
        return
    raise AssertionError("nothing was raised")


def numbers(m, count, shape=(2,), dtype="int32"):
    return [m.np.full(shape, i, dtype) for i in range(count)]


def pipe_of(m, define, batch_size=3, **options):
    options = dict(num_threads=1, device_id=None, **options)
    return m.pipeline_def(batch_size=batch_size, **options)(define)()


def firsts(m, outputs):
    return [int(m.np.array(one).ravel()[0]) for one in outputs]
