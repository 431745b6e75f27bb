"""Augmentations, suites and policies made in Python. Draws are each library's own: bins and signs
are given here."""

import warnings

from . import case, each

ALL = (
    "shear_x shear_y translate_x translate_x_no_shape translate_y translate_y_no_shape rotate "
    "brightness contrast color sharpness posterize solarize solarize_add invert equalize "
    "auto_contrast identity"
).split()


def pictures(m):
    """A pattern, one of a single value in a channel, and a ramp."""
    ramp = m.np.add.outer(m.np.arange(6) * 20, m.np.arange(7) * 13)[..., None]
    flat = m.image(6, 7, 3, 40)
    flat[..., 1] = 77
    return [
        m.image(6, 7, 3, 3),
        flat,
        (ramp * m.np.array([1.0, 0.5, 0.25])).astype(m.np.uint8),
    ]


def augmented(m, body, batches=1):
    def define():
        return body(m.fn.external_source(source=lambda: pictures(m), batch=True, layout="HWC"))

    return m.run(define, batches, batch_size=3, enable_conditionals=True)


def applied(m, augmentation, bin, sign, bins=11, **options):
    signed_bin = m.load("auto_aug.core").signed_bin

    def body(x):
        signed = signed_bin(bin, random_sign=m.types.Constant(sign, device="cpu"))
        return augmentation(x, magnitude_bin=signed, num_magnitude_bins=bins, **options)

    return augmented(m, body)


@each(*ALL)
def picture(m, name):
    """All of an augmentation's pixels, at three bins of eleven and both signs."""
    augmentation = getattr(m.load("auto_aug.augmentations"), name)
    options = {"shape": [6, 7]} if name in ("translate_x", "translate_y") else {}
    return [applied(m, augmentation, bin, sign, **options) for bin, sign in ((2, 0), (10, 1))]


@each(*ALL)
def settings(m, name):
    made = getattr(m.load("auto_aug.augmentations"), name)
    values = None
    if made.mag_range is not None:
        values = [m.np.asarray(made.mag_to_param(one)).tolist() for one in (0.0, 0.25, 3.0)]
    return [made.name, made.mag_range, made.randomly_negate, made.param_device, values]


@each("get_rand_augment_suite", "get_rand_augment_non_monotonic_suite")
def rand_augment_suite(m, name):
    get = getattr(m.load("auto_aug.rand_augment"), name)
    return [
        [[one.name, one.mag_range, one.randomly_negate] for one in suite]
        for suite in (get(), get(True), get(False, 40), get(True, None, (0.5, 0.25)))
    ]


@case
def trivial_augment_suite(m):
    get = m.load("auto_aug.trivial_augment").get_trivial_augment_wide_suite
    return [
        [[one.name, one.mag_range, one.randomly_negate] for one in suite]
        for suite in (get(), get(True))
    ]


@each(
    both=(True, 3, None),
    relative_without=(False, None, 0.5),
    flag=(3, None, None),
)
def wrong_suite(m, arguments):
    return m.load("auto_aug.rand_augment").get_rand_augment_suite(*arguments)


def told(policy):
    return [
        policy.name,
        policy.num_magnitude_bins,
        [[[one.name, p, bin] for one, p, bin in row] for row in policy.sub_policies],
        [[name, one.mag_range, one.randomly_negate] for name, one in policy.augmentations.items()],
    ]


@each("image_net", "reduced_cifar10", "svhn", "reduced_image_net")
def policy(m, name):
    get = getattr(m.load("auto_aug.auto_augment"), f"get_{name}_policy")
    return [told(get())] + ([told(get(True))] if "reduced_image" not in name else [])


# Augmentations of one's own.


def shift(m, **options):
    augmentation = m.load("auto_aug.core").augmentation

    def add(data, amount, factor=1):
        return m.fn.cast_like(data + amount * factor, data)

    return augmentation(**{"mag_range": (0, 20), **options})(add)


@each(plain={}, negated={"randomly_negate": True}, mapped={"mag_to_param": lambda x: 2 * x + 1})
def own(m, options):
    return [applied(m, shift(m, **options), bin, sign) for bin, sign in ((0, 0), (5, 1), (10, 0))]


@case
def own_magnitudes(m):
    made = shift(m, mag_range=m.np.array([3, 1, 7]))
    return [applied(m, made, bin, 0, bins=3) for bin in range(3)]


@case
def own_with_bins_of_samples(m):
    made = shift(m, randomly_negate=True)
    core = m.load("auto_aug.core")

    def body(x):
        bins = m.fn.external_source(source=lambda: m.np.array([0, 5, 10], m.np.int32), batch=True)
        signs = m.fn.external_source(source=lambda: m.np.array([0, 1, 1], m.np.int32), batch=True)
        signed = core.signed_bin(bins, random_sign=signs)
        return made(x, magnitude_bin=signed, num_magnitude_bins=11)

    return augmented(m, body)


@case
def own_with_an_argument(m):
    return applied(m, shift(m), 5, 0, factor=3, unknown=4)


@case
def own_without_magnitudes(m):
    @m.load("auto_aug.core").augmentation
    def halved(data, parameter):
        assert parameter is None
        return data // m.types.Constant(2, dtype=m.types.UINT8)

    return [halved.name, halved.mag_range, applied(m, halved, 3, 0)]


@case
def own_with_an_if(m):
    @m.load("auto_aug.core").augmentation(mag_range=(0, 10))
    def brighten_dark(data, amount):
        if m.fn.reductions.mean(data) < 100:
            data = m.fn.cast_like(data + amount, data)
        return data

    return applied(m, brighten_dark, 10, 0)


@case
def changed_copy(m):
    made = shift(m, randomly_negate=True)
    copy = made.augmentation(mag_range=(5, 6), name="other")
    plain = copy.augmentation(randomly_negate=None, mag_range=None)
    return [
        [one.name, one.mag_range, one.randomly_negate, one.param_device]
        for one in (made, copy, plain)
    ]


@each(
    one_parameter=lambda m, core: core.augmentation(lambda data: data),
    no_function=lambda m, core: core.augmentation(3),
    twice=lambda m, core: core.augmentation(core.augmentation(lambda data, p: data)),
)
def wrong_definition(m, make):
    return make(m, m.load("auto_aug.core"))


@each(
    no_bin={"num_magnitude_bins": 11},
    no_number={"magnitude_bin": 3},
    node_of_a_parameter={
        "magnitude_bin": 3,
        "num_magnitude_bins": 11,
        "map": lambda m: lambda x: m.fn.random.uniform(),
    },
    shapes={
        "magnitude_bin": "node",
        "num_magnitude_bins": 11,
        "map": lambda m: lambda x: [x] * int(1 + x),
    },
    types={
        "magnitude_bin": "node",
        "num_magnitude_bins": 11,
        "map": lambda m: lambda x: m.np.float32(x) if x > 3 else m.np.int32(x),
    },
    own_magnitudes={"magnitude_bin": 1, "num_magnitude_bins": 11, "range": lambda m: m.np.ones(3)},
    three={"magnitude_bin": 1, "num_magnitude_bins": 11, "range": lambda m: (1, 2, 3)},
)
def wrong_call(m, given):
    options = dict(given)
    settings = {}
    if "map" in options:
        settings["mag_to_param"] = options.pop("map")(m)
    if "range" in options:
        settings["mag_range"] = options.pop("range")(m)
    made = shift(m, **settings)

    def body(x):
        if options.get("magnitude_bin") == "node":
            options["magnitude_bin"] = m.fn.random.uniform(values=[1, 2], dtype=m.types.INT32)
        return made(x, **options)

    return m.pipeline_def(batch_size=3, num_threads=1, device_id=None)(
        lambda: body(m.fn.external_source(source=lambda: pictures(m), batch=True, layout="HWC"))
    )()


@case
def missing_argument(m):
    translate = m.load("auto_aug.augmentations").translate_x
    return applied(m, translate, 3, 0)


# Choices.


@case
def selected(m):
    select = m.load("auto_aug.core").select

    def body(x):
        index = m.fn.external_source(source=lambda: m.np.array([2, 0, 1], m.np.int32), batch=True)
        functions = [
            lambda data, by: data + by,
            lambda data, by: data - by,
            lambda data, by: data * by,
        ]
        return select(functions, index, m.fn.cast(x, dtype=m.types.INT32), by=3)

    return augmented(m, body)


@case
def selected_of_one(m):
    select = m.load("auto_aug.core").select
    return augmented(m, lambda x: select([lambda data: data + 1], m.fn.random.coin_flip() * 0, x))


@each(
    one_row=lambda m, made: [[(made, 1.0, 5)]],
    two_steps=lambda m, made: [[(made, 1.0, 5), (made, 1, 10)]],
    rows_of_one_kind=lambda m, made: [[(made, 1.0, 5)], [(made, 1.0, 5)]],
)
def policy_applied(m, make):
    core = m.load("auto_aug.core")
    mine = core.Policy("mine", 11, make(m, shift(m)))
    apply = m.load("auto_aug.auto_augment").apply_auto_augment
    return augmented(m, lambda x: apply(mine, x))


@case
def rand_augment_applied(m):
    apply = m.load("auto_aug.rand_augment").apply_rand_augment
    made = shift(m)
    return [augmented(m, lambda x: apply([made, made], x, n=n, m=7)) for n in (1, 3)]


@case
def rand_augment_with_arguments(m):
    apply = m.load("auto_aug.rand_augment").apply_rand_augment
    return augmented(m, lambda x: apply([shift(m)], x, n=1, m=7, num_magnitude_bins=9, factor=2))


@case
def rand_augment_of_nothing(m):
    apply = m.load("auto_aug.rand_augment").apply_rand_augment
    return augmented(m, lambda x: apply([], x, n=0, m=7))


@case
def trivial_augment_applied(m):
    apply = m.load("auto_aug.trivial_augment").apply_trivial_augment
    return augmented(m, lambda x: apply([shift(m)], x, num_magnitude_bins=1))


@each(
    unused=lambda m, made: ([made], 1, 3, {"nothing": 4}),
    empty=lambda m, made: ([], 1, 3, {}),
    n=lambda m, made: ([made], -1, 3, {}),
    m=lambda m, made: ([made], 1, 31, {}),
    bins=lambda m, made: ([made], 1, 3, {"num_magnitude_bins": 0}),
    shape=lambda m, made: ([m.load("auto_aug.augmentations").translate_x], 1, 3, {}),
)
def rand_augment_wrong(m, make):
    apply = m.load("auto_aug.rand_augment").apply_rand_augment
    suite, n, magnitude, options = make(m, shift(m))
    return augmented(m, lambda x: apply(suite, x, n=n, m=magnitude, **options))


@each(
    no_list=lambda made: 3,
    no_row=lambda made: [3],
    no_triple=lambda made: [[(made, 1.0)]],
    no_augmentation=lambda made: [[(made.op, 1.0, 3)]],
    probability=lambda made: [[(made, 1.5, 3)]],
    no_bin=lambda made: [[(made, 1.0, None)]],
    bin=lambda made: [[(made, 1.0, 11)]],
    number=lambda made: [[(made, 1.0, 1.5)]],
)
def wrong_policy(m, make):
    return m.load("auto_aug.core").Policy("mine", 11, make(shift(m)))


@each(zero=0, text="3", negative=-1)
def wrong_policy_bins(m, bins):
    return m.load("auto_aug.core").Policy("mine", bins, [])


@case
def policy_without_rows(m):
    mine = m.load("auto_aug.core").Policy("mine", 11, [])
    apply = m.load("auto_aug.auto_augment").apply_auto_augment
    return augmented(m, lambda x: apply(mine, x))


@case
def policy_names(m):
    a, b = shift(m), shift(m, mag_range=(1, 2))
    made = m.load("auto_aug.core").Policy("mine", 11, [[(a, 1.0, 3), (b, 0.5, 4)], [(a, 0.25, 1)]])
    return told(made)


@each(probability=(0.0, 3, True), bin=(1.0, 3, False))
def policy_warns(m, what):
    probability, bin, has_range = what
    made = shift(m) if has_range else shift(m, mag_range=None)
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        m.load("auto_aug.core").Policy("mine", 11, [[(made, probability, bin)]])
    return len(found)


@case
def magnitudes_and_parameters(m):
    """What tests of programs compare with: the magnitude of each bin, and what it stands for."""
    found = {}
    for name in ("shear_x", "rotate", "brightness", "solarize", "posterize", "invert"):
        one = getattr(m.load("auto_aug.augmentations"), name)
        magnitudes = one._get_magnitudes(4)
        found[name] = None
        if magnitudes is not None:
            found[name] = [
                magnitudes,
                one._map_mag_to_param(magnitudes[1]),
                one._map_mags_to_params(magnitudes),
            ]
    return found


@case
def arguments_that_no_augmentation_takes(m):
    @m.load("auto_aug.core").augmentation
    def shift(data, parameter, by, fill=0):
        return data

    forbid = m.load("auto_aug.core._args").forbid_unused_kwargs
    return [
        m.raises(lambda: forbid([shift], {}, "call")),
        m.raises(lambda: forbid([shift], {"by": 1, "fill": 2}, "call")),
        m.raises(lambda: forbid([shift], {"by": 1, "bye": 2}, "call")),
    ]


@case
def text_of_an_empty_policy(m):
    return str(m.load("auto_aug.core").Policy("none", num_magnitude_bins=31, sub_policies=[]))


@each(
    auto=("auto_augment.auto_augment", ["svhn", [6, 7], 0, "NN", None, 0.3, 5]),
    image_net=("auto_augment.auto_augment_image_net", [[6, 7], None, "LINEAR", None, 0.3]),
    random=(
        "rand_augment.rand_augment",
        [2, 5, 11, [6, 7], 3, "LINEAR", None, 0.3, 9, False, ["rotate"]],
    ),
    random_beyond=("rand_augment.rand_augment", [1, 12, 11]),
    trivial=(
        "trivial_augment.trivial_augment_wide",
        [11, [6, 7], None, "LINEAR", None, 0.3, 9, ["rotate"]],
    ),
    trivial_too_many=(
        "trivial_augment.trivial_augment_wide",
        [11, None, None, "LINEAR", None, 0.3, 9, ["rotate"], 1],
    ),
)
def arguments_by_position(m, what):
    """What comes out is drawn: extents and type say that each argument was taken for what it is."""
    path, arguments = what
    module, name = path.split(".")
    augment = getattr(m.load(f"auto_aug.{module}"), name)
    kinds = {kind: getattr(m.types, f"INTERP_{kind}") for kind in ("NN", "LINEAR")}
    given = [kinds[one] if isinstance(one, str) and one in kinds else one for one in arguments]

    def body(x):
        return augment(x, *given)

    ((out,),) = augmented(m, body)
    return [out["layout"], [[one["dtype"], one["shape"]] for one in out["samples"]]]
