"""Python functions in a pipeline, automatic augmentation, the plug-ins of frameworks."""

from . import case, each


def images(m):
    return [m.image(4, 5), m.image(4, 5, 3, 3)]


def run(m, body, batches=1, **options):
    settings = {"exec_async": False, "exec_pipelined": False, **options}
    return m.run(lambda: body(m.feed(images(m), layout="HWC")), batches, **settings)[0]


@case
def python_function(m):
    return run(m, lambda x: m.fn.python_function(x, function=lambda a: a + 1))


@case
def python_function_of_two(m):
    return run(m, lambda x: m.fn.python_function(x, x, function=lambda a, b: a + b))


@case
def python_function_with_two_outputs(m):
    return run(
        m, lambda x: tuple(m.fn.python_function(x, function=lambda a: (a, -a), num_outputs=2))
    )


@case
def python_function_without_outputs(m):
    seen = []

    def body(x):
        m.fn.python_function(x, function=lambda a: seen.append(a.shape), num_outputs=0)
        return x

    run(m, body)
    return seen


@case
def python_function_per_batch(m):
    return run(
        m,
        lambda x: m.fn.python_function(
            x, function=lambda batch: [one[:1] for one in batch], batch_processing=True
        ),
    )


@case
def python_function_that_raises(m):
    def fail(a):
        raise KeyError("inside")

    return run(m, lambda x: m.fn.python_function(x, function=fail))


@case
def python_function_that_gives_text(m):
    return run(m, lambda x: m.fn.python_function(x, function=lambda a: "text"))


@case
def python_function_layout(m):
    return run(
        m,
        lambda x: m.fn.python_function(x, function=lambda a: a[..., 0], output_layouts=["HW"]),
    )


@case
def python_function_without_a_function(m):
    return run(m, lambda x: m.fn.python_function(x))


@case
def python_function_class(m):
    return run(m, lambda x: m.ops.PythonFunction(function=lambda a: a * 2)(x))


@case
def python_function_changes_the_shape(m):
    return run(m, lambda x: m.fn.python_function(x, function=lambda a: a[:2].astype("float32")))


@case
def dl_tensor_python_function(m):
    import torch.utils.dlpack as exchange

    def add(tensors):
        return [exchange.to_dlpack(exchange.from_dlpack(one) + 1) for one in tensors]

    return run(m, lambda x: m.fn.dl_tensor_python_function(x, function=add, batch_processing=True))


@case
def dl_tensor_python_function_per_sample(m):
    import torch.utils.dlpack as exchange

    def add(one):
        return exchange.to_dlpack(exchange.from_dlpack(one) + 1)

    return run(m, lambda x: m.fn.dl_tensor_python_function(x, function=add, batch_processing=False))


# auto_aug


def augmented(m, body):
    """Shape and type of what an augmentation gives; its draws are each library's own."""

    def define():
        x = m.fn.external_source(source=[images(m)], layout="HWC")
        return body(x)

    definition = m.pipeline_def(
        batch_size=2, num_threads=1, device_id=None, seed=3, enable_conditionals=True
    )
    out = m.plain(definition(define)().run())
    return [[one["dtype"], one["shape"]] for one in out[0]["samples"]]


@case
def auto_augment(m):
    return augmented(m, lambda x: m.load("auto_aug.auto_augment").auto_augment(x, shape=[4, 5]))


@each("image_net", "reduced_cifar10", "svhn", "reduced_image_net")
def auto_augment_policy(m, name):
    return augmented(
        m, lambda x: m.load("auto_aug.auto_augment").auto_augment(x, name, shape=[4, 5])
    )


@case
def auto_augment_unknown_policy(m):
    return augmented(m, lambda x: m.load("auto_aug.auto_augment").auto_augment(x, "none"))


@case
def rand_augment(m):
    return augmented(
        m, lambda x: m.load("auto_aug.rand_augment").rand_augment(x, n=2, m=9, shape=[4, 5])
    )


@each(no_operations=(-1, 9), magnitude=(2, 100))
def rand_augment_wrong(m, what):
    module = m.load("auto_aug.rand_augment")
    return augmented(m, lambda x: module.rand_augment(x, n=what[0], m=what[1]))


@case
def trivial_augment(m):
    module = m.load("auto_aug.trivial_augment")
    return augmented(m, lambda x: module.trivial_augment_wide(x, shape=[4, 5]))


@each(
    all="shear_x shear_y translate_x translate_x_no_shape translate_y rotate brightness contrast "
    "color sharpness posterize solarize solarize_add invert equalize auto_contrast identity".split()
)
def augmentation_names(m, names):
    module = m.load("auto_aug.augmentations")
    return [getattr(module, name).name for name in names]


@case
def augmentation_of_ones_own(m):
    augmentation = m.load("auto_aug.core").augmentation

    @augmentation(mag_range=(0, 10), mag_to_param=lambda magnitude: magnitude)
    def shift(data, parameter):
        return data

    return [shift.name, list(shift.mag_range), shift.randomly_negate]


# Plug-ins.


@case
def triton_marks_a_pipeline(m):
    triton = m.load("plugin.triton")

    @triton.autoserialize
    @m.pipeline_def(batch_size=2, num_threads=1, device_id=None)
    def body():
        return m.fn.external_source(name="x")

    return body._is_autoserialize


@case
def triton_of_no_pipeline(m):
    return m.load("plugin.triton").autoserialize(lambda: 1)


@each("DALIGenericIterator", "data_iterator")
def jax_names(m, name):
    return hasattr(m.load("plugin.jax"), name)


@case
def jax_iterator(m):
    plugin = m.load("plugin.jax")
    pipe = m.Pipeline(batch_size=2, num_threads=1, device_id=None)
    with pipe:
        data, labels = m.fn.readers.file(file_root=m.files(4), name="Reader")
        pipe.set_outputs(data, labels)
    it = plugin.DALIGenericIterator([pipe], ["data", "label"], reader_name="Reader")
    return list(it)


@case
def jax_data_iterator(m):
    plugin = m.load("plugin.jax")

    @plugin.data_iterator(output_map=["data", "label"], reader_name="Reader", auto_reset=True)
    def make():
        return m.fn.readers.file(file_root=m.files(4), name="Reader")

    it = make(batch_size=2, num_threads=1, device_id=None)
    return [list(it), list(it)]


@case
def tensorflow_names(m):
    return hasattr(m.load("plugin.tf"), "DALIDataset")


@case
def tensorflow_dataset(m):
    import tensorflow as tf

    pipe = m.Pipeline(batch_size=2, num_threads=1, device_id=None)
    with pipe:
        data, labels = m.fn.readers.file(file_root=m.files(4), name="Reader")
        pipe.set_outputs(data, labels)
    with tf.device("/cpu:0"):
        data = m.load("plugin.tf").DALIDataset(
            pipeline=pipe,
            batch_size=2,
            output_dtypes=(tf.uint8, tf.int32),
            output_shapes=((2, 3), (2, 1)),
            device_id=None,
        )
        return [[one.numpy() for one in batch] for batch in data.take(3)]
