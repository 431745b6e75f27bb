"""Cases of random operators whose parameters leave one possible value: types, shapes and bounds, not draws."""
import numpy as np

from recorder import Feed

X = {"x": Feed([np.zeros(shape, np.float32) for shape in ((3,), (1,), (4,))])}


def add(group):
    for probability, name in ((0.0, "never"), (1.0, "always")):
        group.case(f"coin_flip_{name}", f"return x, fn.random.coin_flip(probability={probability})", X)
        group.case(f"coin_flip_{name}_bool",
                   f"return x, fn.random.coin_flip(probability={probability}, dtype=types.BOOL)", X)
    group.case("coin_flip_shape", "return x, fn.random.coin_flip(probability=1.0, shape=[2, 3])", X)
    group.case("coin_flip_shape_like", "fn.random.coin_flip(x, probability=1.0)", X)
    group.case("coin_flip_per_sample", "return x, fn.random.coin_flip(probability=a)",
               X | {"a": Feed([np.float32(v) for v in (0, 1, 0)])})
    group.case("coin_flip_dtype", "return x, fn.random.coin_flip(probability=1.0, dtype=types.UINT8)", X)
    group.case("uniform_values", "return x, fn.random.uniform(values=[2.5])", X)
    group.case("uniform_values_shape", "return x, fn.random.uniform(values=[2.5], shape=3)", X)
    group.case("uniform_values_dtype", "return x, fn.random.uniform(values=[7], dtype=types.INT32)", X)
    group.case("uniform_values_per_sample", "return x, fn.random.uniform(values=a)",
               X | {"a": Feed([np.array([v], np.float32) for v in (1, 2, 3)])})
    group.case("normal_without_spread", "return x, fn.random.normal(mean=3.0, stddev=0.0)", X)
    group.case("normal_shape_like", "fn.random.normal(x, mean=-1.5, stddev=0.0)", X)
    group.case("normal_dtype", "return x, fn.random.normal(mean=2.0, stddev=0.0, dtype=types.UINT8)", X)
    group.case("choice_single", "return x, fn.random.choice(1)", X)
    group.case("choice_probability", "return x, fn.random.choice([10, 20, 30], p=[0.0, 1.0, 0.0])", X)
    group.case("choice_count_probability", "return x, fn.random.choice(3, p=[0.0, 0.0, 1.0])", X)
    group.case("choice_shape", "return x, fn.random.choice([5.5], shape=[4])", X)
    group.case("choice_rows", "fn.random.choice(x, p=[1.0, 0.0])",
               {"x": Feed([np.array([[1, 2, 3], [4, 5, 6]], np.int16) + i for i in range(3)])})
    group.refused("refused_uniform_empty_range", "return x, fn.random.uniform(range=[1.0, 1.0])", X)
    group.refused("refused_choice_probabilities", "return x, fn.random.choice(3, p=[0.5, 0.1, 0.1])", X)
