"""Random programs: a kind of source, a way to define a pipeline, operators whose numbers are exact,
and a way to run it, mixed by a seed."""

import random
from itertools import count

from . import each

SOURCES = "list generator sample batch parallel batch_info reader array iterable two".split()
STYLES = "function with class classes".split()
USES = "run scheduled epochs iterator saved checkpoint".split()
STEPS = "flip crop cast pad slice add multiply subtract divide nearest turn erase permute".split()
STEPS += "compare index look_up join largest bits expand".split()
# What does not fit pictures of one row, as the reader's are.
OF_ROWS = ("crop", "slice", "turn", "erase", "index", "look_up")


class Program:
    """What the seed chose; `make` gives the pipeline, `run` what comes out of it."""

    def __init__(self, m, seed):
        self.m, chance = m, random.Random(seed)
        self.batch_size, self.num_batches = chance.choice((1, 2, 3)), chance.choice((2, 3))
        self.source, self.style = chance.choice(SOURCES), chance.choice(STYLES)
        self.use = chance.choice(USES)
        self.has_conditions = self.style == "function" and chance.random() < 0.6
        self.cycle = chance.choice((True, "quiet", "raise", False))
        self.height, self.width = chance.choice((3, 4)), chance.choice((3, 5))
        steps = [chance.choice(STEPS) for _ in range(chance.randrange(5))]
        if self.source == "reader":
            steps = [one for one in steps if one not in OF_ROWS]
        self.steps = [(one, chance.random()) for one in steps]
        self.policy = chance.choice(("FILL", "DROP", "PARTIAL"))
        self.auto_reset = chance.random() < 0.5
        self.pads, self.shards = chance.random() < 0.5, chance.choice((1, 2))
        self.options = {
            "batch_size": self.batch_size,
            "num_threads": chance.choice((1, 2)),
            "device_id": None,
            "seed": chance.randrange(99),
            "prefetch_queue_depth": chance.choice((1, 2, 3)),
        }
        if chance.random() < 0.2:
            self.options.update(exec_async=False, exec_pipelined=False)
        if self.source in ("parallel", "batch_info"):
            self.options.update(py_num_workers=chance.choice((1, 2)), py_start_method="fork")
        if self.use == "checkpoint":
            self.options["enable_checkpointing"] = True

    def batch(self, number):
        first = number * self.batch_size
        return [
            self.m.image(self.height, self.width, start=11 * (first + k))
            for k in range(self.batch_size)
        ]

    def given(self):
        """The node of the source."""
        m, batch, last = self.m, self.batch, self.num_batches
        options = {"layout": "HWC"}

        def sample(info):
            if info.iteration >= last:
                raise StopIteration
            return m.image(self.height, self.width, start=11 * info.idx_in_epoch)

        def of_batch(number):
            if number >= last:
                raise StopIteration
            return batch(number)

        def of_info(info):
            return of_batch(info.iteration)

        class Batches:
            def __iter__(self):
                self.numbers = iter(range(last))
                return self

            def __next__(self):
                return batch(next(self.numbers))

        external = m.fn.external_source
        if self.source == "reader":
            data, _ = m.fn.readers.file(
                file_root=m.files(7), name="R", pad_last_batch=self.pads, num_shards=self.shards
            )
            return m.fn.reshape(m.fn.cat(data, data, axis=0), shape=[1, 2, 3], layout="HWC")
        if self.source == "two":
            first, second = external(
                lambda number: (batch(number), batch(number + 1)), num_outputs=2, layout="HWC"
            )
            return m.fn.cat(first, second, axis=0)
        if self.source == "sample":
            return external(sample, batch=False, **options)
        if self.source == "parallel":
            return external(sample, batch=False, parallel=True, **options)
        if self.source == "batch_info":
            return external(of_info, batch=True, batch_info=True, parallel=True, **options)
        if self.source == "batch":
            return external(of_batch, **options)
        if self.source == "iterable":
            return external(Batches(), **options)
        batches = [batch(number) for number in range(last)]

        def one_by_one():
            yield from batches

        if self.source == "generator":
            return external(one_by_one, cycle=self.cycle, **options)
        if self.source == "array":
            batches = [m.np.stack(one) for one in batches]
        return external(batches, cycle=self.cycle, **options)

    def changed(self, x):
        """The node behind all steps."""
        m, fn, types = self.m, self.m.fn, self.m.types
        nearest = types.INTERP_NN
        for name, drawn in self.steps:
            chance = random.Random(drawn)
            if name == "flip":
                sides = {"horizontal": chance.choice((0, 1)), "vertical": chance.choice((0, 1))}
                x = m.ops.Flip(**sides)(x) if self.style == "classes" else fn.flip(x, **sides)
            elif name == "crop":
                x = fn.crop(x, crop=(2, 3), crop_pos_x=0.0, out_of_bounds_policy="pad")
            elif name == "cast":
                x = m.ops.Cast(dtype=types.FLOAT)(x)
            elif name == "pad":
                x = fn.pad(x, axes=(0, 1), align=chance.choice((2, 4)), fill_value=3)
            elif name == "slice":
                x = fn.slice(x, start=[1], shape=[3], axes=[1], out_of_bounds_policy="pad")
            elif name == "add":
                x = x + chance.choice((1, 2.5, 300))
            elif name == "multiply":
                x = x * chance.choice((2, 0.5))
            elif name == "subtract":
                x = chance.choice((7, 1.5)) - x
            elif name == "divide":
                x = x / chance.choice((2, 4.0))
            elif name == "nearest":
                size = [chance.choice((2, 3, 8)), 4]
                x = fn.resize(fn.cast(x, dtype=types.FLOAT), size=size, interp_type=nearest)
            elif name == "turn":
                x = fn.cast(x, dtype=types.FLOAT)
                x = fn.rotate(x, angle=chance.choice((90.0, 180.0)), interp_type=nearest)
            elif name == "erase":
                x = fn.cast(x, dtype=types.FLOAT)
                x = fn.erase(x, anchor=[0, 0], shape=[1, 2], axes=[0, 1], fill_value=9)
            elif name == "permute":
                x = fn.permute_batch(x, indices=list(range(self.batch_size))[::-1])
            elif name == "compare":
                x = fn.cast(x > 50, dtype=types.UINT8)
            elif name == "index":
                x = x[0:2, :, chance.choice((0, 1)) :]
            elif name == "look_up":
                x = fn.cast(x, dtype=types.UINT8)
                x = fn.lookup_table(x, keys=[0, 1, 7], values=[5, 6, 8], default_value=1)
            elif name == "join":
                x = fn.cat(x, x, axis=1)
            elif name == "largest":
                x = fn.reductions.max(x, axes=[0], keep_dims=True)
            elif name == "bits":
                x = fn.cast(x, dtype=types.INT32) & 15
            elif name == "expand":
                x = fn.expand_dims(x, axes=[0], new_axis_names="F")
                x = fn.squeeze(x, axes=[0])
        return x

    def make(self, **more):
        """The pipeline, defined in the chosen style."""
        m, options = self.m, {**self.options, **more}

        def nodes():
            x = self.given()
            return self.changed(x), m.fn.cast(m.fn.reductions.sum(x), dtype=m.types.INT64)

        def branches():
            x = self.given()
            total = m.fn.cast(m.fn.reductions.sum(x), dtype=m.types.INT64)
            if total % 2 == 0:
                y = m.fn.flip(m.fn.cast(x, dtype=m.types.FLOAT))
            elif total > 1000 and not (total % 3 == 1):
                y = m.fn.cast(x, dtype=m.types.FLOAT) * 2
            else:
                y = m.fn.cast(x, dtype=m.types.FLOAT) - 1
            many = 1 if len(self.steps) > 2 else 0
            return y, total + many

        if self.has_conditions:
            return m.pipeline_def(enable_conditionals=True, **options)(branches)()
        if self.style == "function":
            return m.pipeline_def(**options)(nodes)()
        if self.style == "with":
            pipe = m.Pipeline(**options)
            with pipe:
                pipe.set_outputs(*nodes())
            return pipe

        class Defined(m.Pipeline):
            def define_graph(self):
                return list(nodes())

        return Defined(**options)

    def taken(self, pipe, steps):
        """Batches, and where epochs end."""
        found = []
        for _ in range(steps):
            try:
                found.append(self.m.plain(pipe.run()))
            except StopIteration:
                found.append("end")
                pipe.reset()
        return found

    def run(self):
        m, pipe = self.m, self.make()
        if self.use == "iterator":
            return self.iterated(pipe)
        pipe.build()
        if self.use == "scheduled":
            found = []
            for _ in range(self.num_batches):
                pipe.schedule_run()
                found.append(m.plain(pipe.share_outputs()))
                pipe.release_outputs()
            return found
        if self.use == "saved" and self.source == "reader":
            again = m.Pipeline.deserialize(pipe.serialize())
            again.build()
            return self.taken(again, self.num_batches)
        if self.use == "checkpoint":
            before = self.taken(pipe, 1)
            again = self.make(checkpoint=pipe.checkpoint())
            again.build()
            return [before, self.taken(again, 2), self.taken(pipe, 2)]
        return self.taken(pipe, 2 * self.num_batches + 2 if self.use == "epochs" else 2)

    def iterated(self, pipe):
        plugin = self.m.load("plugin.pytorch")
        size = {"size": self.batch_size * self.num_batches}
        made = plugin.DALIGenericIterator(
            pipe,
            ["a", "b"],
            auto_reset=self.auto_reset,
            last_batch_policy=getattr(plugin.LastBatchPolicy, self.policy),
            **({"reader_name": "R"} if self.source == "reader" else size),
        )
        found = []
        for _ in range(2):
            epoch = []
            for number, batches in zip(count(), made):
                epoch.append([number, self.m.plain(batches[0]["a"]), self.m.plain(batches[0]["b"])])
            found.append(epoch)
            made.reset()
        return found


@each(*range(60))
def program(m, seed):
    one = Program(m, seed)
    said = [one.source, one.style, one.use, [name for name, _ in one.steps]]
    return [said, m.attempt(one.run)]
