"""Patterns of the engine's messages, and what terms.py adds to them: the terms of DALI's users."""

# In patterns: a name, a list of names, a number, a type such as `f32[?,3] HWC`.
PARTS = {
    "NAME": r"'?(?P<a>\w+)'?",
    "OTHER": r"'?(?P<b>\w+)'?",
    "NUMBER": r"(?P<x>-?[\d.]+)",
    "SECOND": r"(?P<y>-?[\d.]+)",
    "RANK": r"(?P<rank>\d+) (?:dimensions?|axes)",
    "TYPE": r"(?P<type>\w+\[[^]]*\])(?: (?P<layout>\w+))?",
    "KIND": r"(?P<kind>[A-Z]\w+)",
}
# In additions: what the groups hold, {first} and {last}, the range of axes of {rank} dimensions,
# and {spelt} and {spelt}, element types as DALI writes them.
TERMS = [
    # what belongs together, and what does not
    (
        r"NAME and OTHER exclude each other",
        '`{a}` "{a}" and `{b}` "{b}" are mutually exclusive: ``{a}`` and ``{b}`` do not go '
        "together, it is one and not both",
    ),
    (
        r"(?P<a>\w+(?:, \w+)*) and OTHER exclude each other",
        "{quoted}: mutually exclusive, not to be used together",
    ),
    (
        r"give exactly one of NAME and OTHER",
        "Missing ``{a}`` or ``{b}``, or both are given: both ``{a}`` and ``{b}``. They are "
        "mutually exclusive: `{a}` and `{b}`",
    ),
    (
        r"NAME and OTHER (?:come|belong) together",
        "`{a}` and `{b}`, ``{a}`` and ``{b}``, are given together",
    ),
    (
        r"NAME excludes OTHER and '?(?P<c>\w+)'?",
        "``{a}``, or ``{b}`` and ``{c}``: `{c}` and `{b}` go together without it",
    ),
    (
        r"the rates, scale and out_length exclude",
        "sampling rates, ``scale`` and ``out_length`` do not go together",
    ),
    (
        r"shape, rel_shape and the second input exclude",
        "`shape` and `rel_shape` are mutually exclusive",
    ),
    (
        r"size, resize_x/resize_y, resize_shorter and resize_longer exclude|fn\.resize: no "
        r"size",
        "give one method of specifying the size: size, resize_x and resize_y, "
        "resize_shorter, or resize_longer",
    ),
    (
        r"scale and normalized_kernel exclude",
        "``scale`` is not for ``normalized_kernel``",
    ),
    (
        r"shear and angles exclude",
        "one of ``shear`` and ``angles`` is expected",
    ),
    # axes
    (
        r"fn\.stack: axis NUMBER is out of range for RANK",
        "Invalid axis argument, {x}, not in [ {less}, {last}]",
    ),
    (
        r"(?<!fn\.stack: )axis NUMBER is out of range for RANK",
        "Invalid axis argument, {x}, not in [ {first}, {last}]; axis index out of bounds "
        "[0, {rank})",
    ),
    (
        r"axis NUMBER is out of range for TYPE",
        "Axis {x} is out of bounds [0,{rank}), transform axis {x} is out of bounds [0, "
        "{rank}), outside of [-1, {rank}]",
    ),
    (
        r"axes: NUMBER is out of range for an input of RANK",
        "Axis {x} out of range: [{first}, {last}] is the range. Axis index out of range: "
        "{x}, not in [{first},{last}]; axis index {x} is out of the range 0..{last}",
    ),
    (
        r"names axis NUMBER, the input has RANK",
        "{x} is out of bounds: src_dims are in the range 0..{last}, `src_dims` out of "
        "bounds, or -1 in the range [0..{last}]",
    ),
    (
        r"names axis NUMBER, the output has axes",
        "not enough dimensions for these axes",
    ),
    (
        r"axes names an axis that the input \(layout '\w*', RANK\)",
        "an axis is out of range: [{first}, {last}]",
    ),
    (
        r"has no axis '(?P<a>.)'|axis_name '(?P<b>.)' is not an axis of layout "
        r"'(?P<layout>\w+)'",
        "Axis '{a}{b}' is not present in the layout; ``axis_name`` or axis_names '{a}{b}' "
        'is undefined for layout "{layout}"',
    ),
    (
        r"axis_names names an axis that the input \(layout '(?P<layout>\w*)'",
        "an axis is not present in the layout",
    ),
    (
        r"an axis twice|an axis is named twice|names axis (?P<x>\d+) twice",
        "Duplicate axis: an axis index is there more than once, at least twice",
    ),
    (
        r"perm \[[^]]*\] is not a permutation of the RANK",
        "dimensionality ({rank}) differs from the length of the permutation",
    ),
    (
        r"fn\.transpose: perm",
        "Invalid permutation: `perm` is sorted to 0, 1, …",
    ),
    (
        r"index NUMBER is out of range for axis (?P<y>\d+) of extent (?P<z>\d+)",
        "Index {x} is out of range for axis {y} of length {z}",
    ),
    (
        r"(?P<x>\d+) indices for a data node of type \w+\[\]",
        "an index of a scalar",
    ),
    (
        r"(?P<x>\d+) indices for a data node of type TYPE",
        "Too many indices ({x}), the tensor is {rank}D",
    ),
    (
        r"cannot be indexed by a data node of type (?P<kind>\w+)\[",
        "an index is of integral type, not {spelt}",
    ),
    (
        r"a step of zero",
        "Step is zero",
    ),
    (
        r"an anchor input comes with a shape input",
        "named slice arguments, or positional inputs for both",
    ),
    (
        r"reaches outside the input's extent",
        "out of bounds: the slice, with the current policy",
    ),
    # shapes
    (
        r"the new shape has NUMBER elements, the input SECOND",
        "not the same size: the volume of the shape is {x} elements, that of the input "
        "{y}. Actual volume: {y}, Requested volume: {x}",
    ),
    (
        r"of the SECOND elements of the input NUMBER would be left",
        "the volume of the shape is {x} elements, that of the input {y}",
    ),
    (
        r"more than one extent of shape is negative",
        "Only one negative extent is allowed",
    ),
    (
        r"fn\.reshape: nothing to do",
        "a no-op: neither a new shape nor a layout",
    ),
    (
        r"layout '(?P<layout>\w+)' does not have NUMBER letters",
        "layout '{layout}' is not compatible with a {x}D shape",
    ),
    (
        r"NAME and OTHER differ in length",
        "`{a}` and `{b}` have different lengths",
    ),
    (
        r"rows of NUMBER bytes are not whole elements",
        "the innermost dimension is not divisible by the size of the requested type",
    ),
    (
        r'new_axis_names "\w*" has NUMBER letters for (?P<y>\d+) axes',
        "{y} new dimensions, but {x} dimension names",
    ),
    (
        r"new_axis_names needs an input with a layout",
        "``new_axis_names`` requires a layout",
    ),
    (
        r"(?:cat|stack): input NUMBER has extent",
        "tensors differ in size beside the concatenation axis; to be stacked they are of "
        "equal shape",
    ),
    (
        r"have different (?:element types|numbers of dimensions) \((?P<a>.*?) and "
        r"(?P<b>.*?)\)",
        "inputs have the same type and the same number of dimensions; these are {inputs}",
    ),
    (
        r"axis_name '(?P<a>\w\w+)' is not an axis",
        "``axis_name`` is a single character, not {a}",
    ),
    (
        r"axis_name must be one letter, not '(?P<a>\w*)'",
        "``axis_name`` is a single character, not {a}",
    ),
    (
        r"operands of extents (?P<x>\d+) and (?P<y>\d+) along axis",
        "Can't broadcast shapes",
    ),
    (
        r"in more than one channel",
        "input data is 1D, or all but one extent are degenerate",
    ),
    (
        r"NAME takes NUMBER elements?, or one for all, not (?P<y>\d+)",
        'Argument "{a}" expected shape {x} but got {y} values; "{a}" expects a single '
        "value or a list of {x}, {y} given",
    ),
    (
        r"NAME has NUMBER elements, (?P<y>\d+) are needed",
        'Argument "{a}" expected shape {y} but got {x} values',
    ),
    (
        r"(?P<x>\d+) probabilities for (?P<y>\d+) choices",
        'Argument "p" expected shape {y} but got {x} values',
    ),
    (
        r"the matrix has NUMBER elements, (?P<y>\d+) x (?P<z>\d+) are needed",
        "`matrix` has {product} elements",
    ),
    (
        r"NUMBER numbers of M are no rows for points of (?P<y>\d+)",
        "no matrix of {x} elements and {y} columns",
    ),
    (
        r"NUMBER values of fill_value for (?P<y>\d+) channels",
        "the fill value does not match the number of channels",
    ),
    (
        r"range needs two numbers",
        'Argument "range" expected shape 2 and got other values',
    ),
    (
        r"NAME has NUMBER numbers, points have (?P<y>\d+) coordinates",
        'Argument "{a}" expects a single value or a list of {y}, {x} given',
    ),
    (
        r"there is no shear",
        "one of ``shear`` and ``angles`` is expected",
    ),
    (
        r"NAME is one number, and has NUMBER elements",
        "`{a}` has one element for each sample",
    ),
    (
        r"shape and the input shape_like exclude",
        '"shape" is incompatible with a shape-like input',
    ),
    (
        r"numbers for shape \[",
        "the number of values does not match the shape",
    ),
    (
        r"mean and std have NUMBER values, the image",
        "the number of per-channel values does not match that of channels",
    ),
    (
        r"(?P<a>\w+) has (?P<x>\d+) channels, the image has c(?P<y>\d+)",
        "Expected {x}. Got {y}",
    ),
    (
        r"crop needs 2 elements",
        "`crop` argument: 2 or 3 elements",
    ),
    (
        r"argument (?P<argument>\w+) of \S+ must be an integer, but the data node given is "
        r"(?P<kind>\w+)\[\]",
        'Unexpected type of argument "{argument}": int32 is expected, and not {spelt}',
    ),
    (
        r"argument (?P<argument>\w+) of \S+ must be .*?, but the data node given is TYPE",
        'Unexpected shape of argument "{argument}": {type}',
    ),
    # types and layouts
    (
        r"(?P<name>\S+) takes the layout (?P<list>.*) for input .*, but gets (?P<a>\w+)",
        'the layout "{a}" does not match any of the allowed layouts: {list}',
    ),
    (
        r"fn\.(?P<name>\S+) takes (?P<list>[A-Z].*) as input .*, but gets KIND",
        "Unsupported input type: {spelt}, for the {name} operator. Unsupported type: "
        "{spelt}. Supported types: {all_spelt}",
    ),
    (
        r"dtype KIND is neither the input's type \((?P<a>\w+)\) nor FLOAT",
        "the output is of the original type, or float: not {spelt}",
    ),
    (
        r"dtype KIND is neither FLOAT, the input's type nor FLOAT",
        "Unsupported types: float, {spelt}",
    ),
    (
        r"dtype KIND is neither the input's type nor FLOAT",
        "Output data type is the same as input, or FLOAT",
    ),
    (
        r"dtype KIND is not ",
        "Not supported output type:{spelt}. Unsupported output type: {spelt}",
    ),
    (
        r'output_layout "\w*" is not a permutation',
        "the output layout is not a permutation of input layout",
    ),
    (
        r"operator '(?P<a>[&|^~]|<<|>>)' is not defined for",
        "bitwise operator `{a}` is for inputs of integral type",
    ),
    (
        r"matrix (?:is missing|must)|there is no matrix",
        "`matrix` must be provided",
    ),
    # values
    (
        r"crop_pos_\w must lie in \[0, 1\], not NUMBER",
        "Anchor {x} out of range [0.0, 1.0]",
    ),
    (
        r"fn\.noise\.\S+ \w+ must lie in \[0, 1\], not NUMBER",
        "noise probability within [0.0, 1.0]. Got: {x}",
    ),
    (
        r"NAME must be at least 1, (?:not|it is) NUMBER",
        "`{a}` must be positive. Invalid {words}: {x}",
    ),
    (
        r"fn\.mfcc: n_mfcc must be",
        "the number of MFCCs is > 0",
    ),
    (
        r"nfilter must be from 1",
        "the number of filters is > 0",
    ),
    (
        r"NAME must be odd.* got (?P<x>-\d+)",
        "`{a}` must be non-negative, got {x} for sample: {sample}",
    ),
    (
        r"NAME must be odd, between (?P<y>\d+) and (?P<z>\d+).* got (?P<x>\d+)",
        "Window size is an odd integer between {y} and {z}, got {x} for sample: {sample}. "
        "The window is of odd length, got: {x}.",
    ),
    (
        r"NAME must not be negative, got NUMBER",
        "`{a}` is non-negative, got {x} for sample: {sample}",
    ),
    (
        r"neither sigma nor window_size",
        "`sigma` and `window_size` are 0 at the same time",
    ),
    (
        r"NUMBER keys for SECOND values",
        "`keys` size does not match `values` size",
    ),
    (
        r"key NUMBER is not in 0 \.\. (?P<y>\d+)",
        "`keys` have the range [0, {y}]",
    ),
    (
        r"the range (?P<a>\[.*\)) is empty",
        "Invalid range {a}",
    ),
    (
        r"the probabilities sum to NUMBER, not 1",
        "sum of probabilities: 1.0 is expected, got {shown} for sample: {sample}",
    ),
    (
        r"nothing to choose from: NUMBER choices",
        "a positive number of elements is expected, got {x}",
    ),
    (
        r"place NUMBER of the batch is wanted, but only (?P<y>\d+)",
        "`in_idx` is in the range of the batch: {x} is not, its size is {y}. in_idx: range "
        "[0, {y}), got {x}, of {y}",
    ),
    (
        r"blue_position .* is no place in a tile",
        "`blue_position` lies within 2x2 places",
    ),
    (
        r"fn\.filter: the window has",
        "Filter dimensionality is the number of spatial dimensions",
    ),
    (
        r"a window of NUMBER samples is longer than nfft=(?P<y>-?\d+)",
        "Window length ({x}) and FFT size ({y})",
    ),
    (
        r"power must be 1 or 2, not NUMBER",
        "`power` is 1 or 2, received {x}. Power: 2, or 1 for magnitudes. Received: {x}",
    ),
    (
        r'layout "(?P<a>\w*)" is unknown',
        "Unexpected layout: {a}",
    ),
    (
        r"window_fn has NUMBER weights",
        "Window function does not match `window_length`",
    ),
    (
        r"freq_high is .* not above freq_low",
        "freq_high is in the range (freq_low, sample_rate/2]",
    ),
    (
        r'mel_formula "(?P<a>\w*)" is unknown',
        'Unsupported mel_formula "{a}": "slaney" and "htk" are supported',
    ),
    (
        r"dct_type NUMBER is unknown",
        "Unsupported DCT type: {x}. Supported: 1, 2, 3, 4.",
    ),
    (
        r"a transform of type 1 has no orthonormal form",
        "Ortho-normalization is not supported for DCT type I",
    ),
    (
        r"fn\.audio_resample: NUMBER is not positive",
        "sampling rates are positive. in_rate == {x}",
    ),
    (
        r"quality is NUMBER",
        "``quality`` out of range: {x} is not in [0..100]",
    ),
    (
        r'(?P<a>border) "(?P<b>\w*)" is unknown',
        '``{a}`` mode "{b}" is not supported',
    ),
    (
        r'unknown mode "(?P<a>\w*)"',
        "Invalid mode: {a}",
    ),
    (
        r'missing_component_behavior is "(?P<a>\w*)"',
        "missing_component_behavior '{a}' is none of skip, error, empty",
    ),
    (
        r'there is no property "(?P<a>\w*)"',
        "Unsupported property key: {a}",
    ),
    (
        r"NAME is NUMBER; it must be positive",
        "The `{a}` must be positive, got `{x}`",
    ),
    (
        r"probability NUMBER is outside \[0, 1\]",
        "Probabilities are in range [0, 1], not {x}, for sample: {sample}",
    ),
    (
        r"NAME must be finite and above 0, it is NUMBER",
        "the {words} is > 0, not {x}",
    ),
    (
        r"fn\.audio_resample: NUMBER is not positive",
        "the scaling factor is not negative: scale == {x}",
    ),
    (
        r"num_shards is NUMBER; it must be",
        "num_shards is greater than shard_id",
    ),
    # data nodes while a pipeline is defined
    (
        r"has no truth value",
        "a DataNode in a conditional context, such as an `if` statement",
    ),
    (
        r"has no length",
        "object of type 'DataNode' has no len()",
    ),
    (
        r"is no number while",
        "a number is expected, not 'DataNode'",
    ),
    (
        r"a data node has no attribute `(?P<a>\w+)`",
        "'DataNode' has no attribute '{a}'",
    ),
    # readers and decoders
    (
        r"nothing to read$",
        "``file_root`` is required without ``files`` and ``file_list``",
    ),
    (
        r"files is an empty list",
        "``files`` is empty",
    ),
    (
        r"shard_id is .*, but there are",
        "num_shards is greater than shard_id",
    ),
    (
        r"there is no annotations_file",
        "``annotations_file`` or ``preprocessed_annotations`` is needed",
    ),
    (
        r"files, but \d+ indices",
        "the number of index files is not the number of data files, the number of archives",
    ),
    (
        r"cannot read the folder (?P<a>\S+): ",
        "Failed to open {a}: reading {a} failed, see file_root",
    ),
    (
        r"cannot open the manifest (?P<a>\S+): ",
        "Could not open the manifest file: {a}",
    ),
    (
        r"cannot (?:read|open) (?:the \w+ ?\w* )?(?P<a>\S+): ",
        "Could not open {a}. File mapping failed: {a}",
    ),
    (
        r"no sound of a known format",
        "Failed to open the data",
    ),
]
