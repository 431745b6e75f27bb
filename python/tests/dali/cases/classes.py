"""Operators as classes: `ops`."""

from . import case, each


def images(m):
    return [m.image(4, 5), m.image(4, 5, 3, 3)]


def run(m, body):
    return m.run(lambda: body(m.feed(images(m), layout="HWC")))[0]


@case
def made_and_called(m):
    return run(m, lambda x: m.ops.Flip(horizontal=1)(x))


@case
def called_twice(m):
    def body(x):
        flip = m.ops.Flip()
        return flip(x), flip(x + 1)

    return m.run(lambda: body(m.feed(images(m))))[0] and "done"


@case
def argument_at_the_call(m):
    def body(x):
        return m.ops.Flip()(x, horizontal=m.feed(m.np.array([0, 1], "int32")))

    return run(m, body)


@case
def static_argument_at_the_call(m):
    return run(m, lambda x: m.ops.Flip()(x, vertical=1))


@case
def argument_in_both_places(m):
    return run(m, lambda x: m.ops.Flip(vertical=0)(x, vertical=1))


@case
def made_outside_of_the_pipeline(m):
    flip = m.ops.Flip(device="cpu", vertical=1)
    return run(m, lambda x: flip(x))


@case
def used_in_two_pipelines(m):
    flip = m.ops.Flip()
    return [run(m, lambda x: flip(x)), run(m, lambda x: flip(x))]


@case
def position_only_argument(m):
    return run(m, lambda x: m.ops.Flip("cpu")(x))


@case
def unknown_argument(m):
    return run(m, lambda x: m.ops.Flip(no_such=1)(x))


@case
def wrong_input(m):
    return run(m, lambda x: m.ops.Flip()("text"))


@case
def node_at_construction(m):
    return run(m, lambda x: m.ops.Flip(horizontal=m.feed(m.np.array([0, 1], "int32")))(x))


@case
def lists_of_nodes(m):
    return run(m, lambda x: tuple(m.ops.Flip()([x, x])))


@case
def reader(m):
    def body():
        jpegs, labels = m.ops.readers.File(file_root=m.files(4), name="R")()
        return jpegs, labels

    return m.run(body, 2)


@case
def old_reader_name(m):
    pipe = m.Pipeline(batch_size=2, num_threads=1, device_id=None)
    with pipe:
        source = m.ops.FileReader(file_root=m.files(4))
        pipe.set_outputs(*source(name="Reader"))
    pipe.build()
    return [pipe.epoch_size("Reader"), m.plain(pipe.run())]


@case
def in_define_graph(m):
    class Mine(m.Pipeline):
        def __init__(self):
            super().__init__(2, 1, None)
            self.input = m.ops.ExternalSource(source=[images(m)], layout="HWC")
            self.crop = m.ops.Crop(device="cpu", crop=(2, 2))
            self.normalize = m.ops.CropMirrorNormalize(
                dtype=m.types.FLOAT, output_layout=m.types.NCHW, mean=[0.0], std=[1.0]
            )

        def define_graph(self):
            x = self.crop(self.input())
            return x, self.normalize(x, mirror=1)

    pipe = Mine()
    pipe.build()
    return m.plain(pipe.run())


@case
def subclassed(m):
    class Mirror(m.ops.Flip):
        def __init__(self, **more):
            super().__init__(horizontal=1, **more)

        def __call__(self, x):
            return super().__call__(x) + 1

    return run(m, lambda x: Mirror()(x))


@case
def composed(m):
    return run(m, lambda x: m.ops.Compose([m.ops.Crop(crop=(2, 2)), m.ops.Flip()])(x))


@case
def composed_with_functions(m):
    return run(
        m, lambda x: m.ops.Compose([m.ops.Crop(crop=(2, 2)), lambda y: y + 1, m.ops.Flip()])(x)
    )


@case
def composed_of_nothing(m):
    return m.ops.Compose([]) is not None


@case
def composed_of_one(m):
    return run(m, lambda x: m.ops.Compose([m.ops.Flip()])(x))


@each("Cast", "Cat", "Stack", "Slice", "Pad", "Transpose", "Reshape", "Erase", "OneHot", "Rotate")
def is_a_class(m, name):
    return isinstance(getattr(m.ops, name), type)


@each(
    "random.Uniform",
    "random.CoinFlip",
    "random.Normal",
    "reductions.Sum",
    "reductions.Mean",
    "readers.File",
    "decoders.Image",
    "decoders.ImageRandomCrop",
    "transforms.Rotation",
    "noise.SaltAndPepper",
)
def is_a_class_of_a_module(m, name):
    module, cls = name.split(".")
    return isinstance(getattr(getattr(m.ops, module), cls), type)


@case
def attributes(m):
    flip = m.ops.Flip(device="cpu")
    return [flip.device, flip.preserve, type(flip).__name__]


@case
def wrong_device(m):
    return run(m, lambda x: m.ops.Flip(device="tpu")(x))


@case
def reduction(m):
    return run(m, lambda x: m.ops.reductions.Sum(axes=[0, 1])(x))


@case
def cast(m):
    return run(m, lambda x: m.ops.Cast(dtype=m.types.FLOAT)(x))


@case
def constant(m):
    def body():
        return m.feed(m.np.zeros((2, 1), "uint8")), m.ops.Constant(idata=[1, 2])()

    return m.run(body)[0][1]


@case
def random_with_seed(m):
    def once():
        def body():
            return m.ops.random.Uniform(range=(0.0, 1.0), seed=4)(shape=[3])

        return m.run(body)

    return once() == once()


@case
def old_random_name(m):
    out = m.run(lambda: m.ops.CoinFlip(probability=1.0)())[0][0]
    return [one["values"] for one in out["samples"]]


@case
def copy(m):
    return run(m, lambda x: m.ops.Copy()(x))


@each(nothing=None, another=(2, 2))
def argument_of_both(m, crop):
    """An argument of the constructor, given again."""
    return run(m, lambda x: m.ops.Crop(crop=(2, 3))(x, crop=crop))
