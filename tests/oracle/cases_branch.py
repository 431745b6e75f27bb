"""Cases of data-dependent control flow: if/elif/else, and/or/not, early returns, merged constants and structures."""
import numpy as np

from recorder import Feed
from samples import images

SIZES = [(6, 7), (5, 5), (8, 3), (2, 3), (4, 9)]


def feeds(predicates=None, dtype=bool, key=800, extra=None):
    values = [True, False, True, False, True] if predicates is None else predicates
    named = {"x": Feed(images(SIZES, key=key), "HWC"), "c": Feed([np.array(v, dtype) for v in values])}
    return named | (extra or {})


def scalars(values, dtype):
    return Feed([np.array(v, dtype) for v in values])


FLIP_ELSE = """if c:
    y = fn.flip(x)
else:
    y = fn.flip(x, horizontal=0, vertical=1)
return y"""


def add_if(group):
    group.case("if_else", FLIP_ELSE, feeds())
    group.case("if_all_true", FLIP_ELSE, feeds([True] * 5))
    group.case("if_all_false", FLIP_ELSE, feeds([False] * 5))
    group.case("if_without_else", "y = x\nif c:\n    y = fn.flip(y)\nreturn y", feeds())
    group.case("if_pass", "y = x\nif c:\n    pass\nelse:\n    y = fn.flip(y)\nreturn y", feeds())
    for dtype in ("uint8", "int8", "int32", "uint64", "float32", "float64", "float16"):
        group.case(f"if_predicate_{dtype}", FLIP_ELSE, feeds([0, 1, 3, 0, 100], dtype))
    group.case("if_predicate_special_floats", FLIP_ELSE, feeds([np.nan, -0.0, 0.25, -1, np.inf], np.float32))
    group.case("if_comparison", "if a > 10:\n    y = x + 1\nelse:\n    y = x + 2\nreturn y",
               feeds(extra={"a": scalars([5, 11, 10, 200, 0], np.int32)}))
    group.case("if_reduced_condition", "if fn.reductions.mean(x) > 128:\n    y = fn.flip(x)\nelse:\n    y = x\nreturn y",
               feeds())
    group.case("if_on_shape", "if x.shape()[0] > 5:\n    y = fn.crop(x, crop=[2, 2])\nelse:\n    y = x\nreturn y", feeds())
    group.case("elif_chain", """if a < 1:
    y = fn.flip(x)
elif a < 2:
    y = fn.flip(x, horizontal=0, vertical=1)
elif a < 3:
    y = fn.flip(x, vertical=1)
else:
    y = x
return y""", feeds(extra={"a": scalars([0, 1, 2, 3, 1], np.int32)}))
    group.case("nested", """if c:
    if d:
        y = x + 10
    else:
        y = x + 20
else:
    y = x + 30
    if d:
        y = y * 2
return y""", feeds(extra={"d": scalars([True, True, False, False, True], bool)}))
    group.case("nested_outer_value_used_inside", """z = fn.flip(x)
if c:
    if d:
        y = z
    else:
        y = x
else:
    y = z - x
return y, z""", feeds(extra={"d": scalars([True, True, False, False, True], bool)}))
    group.case("two_ifs_in_a_row", """if c:
    y = fn.flip(x)
else:
    y = x
if d:
    y = fn.flip(y, horizontal=0, vertical=1)
return y""", feeds(extra={"d": scalars([True, True, False, False, True], bool)}))
    group.case("shapes_differ_between_arms", """if c:
    y = fn.crop(x, crop=[2, 2])
else:
    y = fn.resize(x, size=[3, 4], interp_type=types.INTERP_NN)
return y""", feeds())
    group.case("several_names", """if c:
    y = fn.flip(x)
    z = x[0]
else:
    y = x
    z = x[-1]
return y, z""", feeds())
    group.case("augmented_assignment", "y = x\nif c:\n    y += 5\nelse:\n    y *= 2\nreturn y", feeds())
    group.case("argument_from_outside", """if c:
    y = fn.brightness(x, brightness=a)
else:
    y = x
return y""", feeds(extra={"a": scalars([0, 1, 0, 1, 0], np.float32)}))
    group.case("ungrouped_range_error_not_reached", """if x.shape()[0] > 4:
    y = x[4]
else:
    y = x[0]
return y""", feeds())


def add_constants(group):
    for name, first, second in (("int", "1", "2"), ("float", "0.5", "-1.5"), ("bool", "True", "False")):
        group.case(f"merge_{name}_constants", f"if c:\n    y = {first}\nelse:\n    y = {second}\nreturn x, y", feeds())
    group.case("merge_equal_constants", "if c:\n    y = 7\nelse:\n    y = 7\nreturn x * y", feeds())
    group.case("merge_constant_and_node", "if c:\n    y = 3\nelse:\n    y = a\nreturn x + y",
               feeds(extra={"a": scalars([10, 20, 30, 40, 50], np.int32)}))
    group.case("merge_constant_as_argument", "s = 1.0\nif c:\n    s = 0.0\nreturn fn.brightness(x, brightness=s)",
               feeds())
    group.case("merge_tuple", """if c:
    y = (fn.flip(x), 1)
else:
    y = (x, 2)
a, b = y
return a, b""", feeds())
    group.case("merge_list", "if c:\n    y = [x, x + 1]\nelse:\n    y = [x + 2, x + 3]\nreturn y[1] - x", feeds())
    group.case("merge_dict", """if c:
    y = {"a": x, "b": 1.5}
else:
    y = {"a": fn.flip(x), "b": 2.5}
return y["a"], y["b"]""", feeds())


def add_logic(group):
    pair = {"d": scalars([True, True, False, False, True], bool)}
    for name, expression in (("and", "c and d"), ("or", "c or d"), ("not", "not c"), ("and_not", "c and not d"),
                             ("three", "c and d or not d"), ("not_and", "not (c and d)"),
                             ("comparison", "a > 3 and a < 30")):
        extra = pair | {"a": scalars([5, 1, 40, 29, 3], np.int32)}
        group.case(f"logic_{name}", f"return {expression}, x", feeds(extra=extra))
        group.case(f"logic_{name}_condition", f"y = x\nif {expression}:\n    y = fn.flip(x)\nreturn y", feeds(extra=extra))
    group.case("logic_lazy_right_side", "y = x.shape()[0] > 6 and fn.reductions.max(x[6]) > 10\nreturn y, x", feeds())
    group.case("logic_static_left", "t = True\nreturn (t and c), x", feeds())
    group.refused("refused_not_integer", "return (not c), x", feeds([0, 1, 2, 0, 5], "int32"))
    group.case("chained_comparison", "return (2 < a < 30), x", feeds(extra={"a": scalars([5, 1, 40, 29, 3], np.int32)}))


def add_functions(group):
    group.case("early_return", "if c:\n    return fn.flip(x)\nreturn x", feeds())
    group.case("early_return_else", "if c:\n    return fn.flip(x), 1\nelse:\n    return x, 2", feeds())
    group.case("helper_with_early_return", """def pick(value, flag):
    if flag:
        return fn.flip(value)
    return fn.flip(value, horizontal=0, vertical=1)
---
return pick(x, c)""", feeds())
    group.case("recursive_choice", """def choose(value, index, options):
    if len(options) == 1:
        return options[0](value)
    if index == 0:
        return options[0](value)
    return choose(value, index - 1, options[1:])
---
options = [lambda v: fn.flip(v), lambda v: v, lambda v: fn.flip(v, vertical=1)]
return choose(x, a, options)""", feeds(extra={"a": scalars([0, 1, 2, 1, 0], np.int32)}))
    group.case("loop_of_ifs", """y = x
for i in range(3):
    if a > i:
        y = fn.flip(y, horizontal=i % 2, vertical=1)
return y""", feeds(extra={"a": scalars([0, 1, 2, 3, 5], np.int32)}))
    group.case("static_if_inside", """mode = "flip"
if c:
    if mode == "flip":
        y = fn.flip(x)
    else:
        y = x
else:
    y = x
return y""", feeds())


def add_refusals(group):
    group.refused("refused_if_vector", FLIP_ELSE, {
        "x": Feed(images(SIZES), "HWC"), "c": Feed([np.array([True])] * 5)})
    group.refused("refused_missing_arm", "if c:\n    y = x\nreturn y", feeds())
    group.refused("refused_types_differ", "if c:\n    y = x\nelse:\n    y = fn.cast(x, dtype=types.FLOAT)\nreturn y",
                  feeds())
    group.refused("refused_ranks_differ", "if c:\n    y = x\nelse:\n    y = x[0]\nreturn y", feeds())
    group.refused("refused_layouts_differ", 'if c:\n    y = x\nelse:\n    y = fn.reshape(x, layout="CHW")\nreturn y',
                  feeds())
    group.refused("refused_structures_differ", "if c:\n    y = (x, x)\nelse:\n    y = (x,)\nreturn y[0]", feeds())
    group.refused("refused_and_integer", "return (c and a), x", feeds(extra={"a": scalars([1, 2, 3, 4, 5], np.int32)}))
    group.refused("refused_for_over_node", "for v in x:\n    pass\nreturn x", feeds())
    group.refused("refused_while_node", "while c:\n    x = x + 1\nreturn x", feeds())
    group.refused("refused_one_return", "if c:\n    return x\nelse:\n    y = x\n", feeds())


def add(group):
    for part in (add_if, add_constants, add_logic, add_functions, add_refusals):
        part(group)
