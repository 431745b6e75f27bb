"""Calls that are refused, by class and by the words that programs match in the messages."""

import fnmatch

from . import each

CALLS = {
    # shape and layout
    "crop_outside": lambda m, fn, x: fn.crop(x, crop=(9, 9)),
    "crop_rank": lambda m, fn, x: fn.crop(fn.reshape(x, shape=[60], layout="W"), crop=(1, 1)),
    "crop_position": lambda m, fn, x: fn.crop(x, crop=(2, 2), crop_pos_x=2.0),
    "crop_both": lambda m, fn, x: fn.crop(x, crop=(2, 2), crop_w=3),
    "crop_one": lambda m, fn, x: fn.crop(x, crop_w=3),
    "slice_outside": lambda m, fn, x: fn.slice(x, start=[2], shape=[9], axes=[0]),
    "slice_end_and_shape": lambda m, fn, x: fn.slice(x, start=[2], shape=[1], end=[3], axes=[0]),
    "slice_start_twice": lambda m, fn, x: fn.slice(
        x, start=[2], rel_start=[0.1], end=[3], axes=[0]
    ),
    "slice_axes_twice": lambda m, fn, x: fn.slice(x, start=[2, 1], shape=[1, 1], axes=[0, 0]),
    "slice_axis": lambda m, fn, x: fn.slice(x, start=[2], shape=[1], axes=[5]),
    "slice_axis_name": lambda m, fn, x: fn.slice(x, start=[2], shape=[1], axis_names="Q"),
    "slice_inputs": lambda m, fn, x: fn.slice(x, x),
    "subscript_outside": lambda m, fn, x: x[7],
    "subscript_negative": lambda m, fn, x: x[-7],
    "subscript_many": lambda m, fn, x: x[0, 0, 0, 0],
    "subscript_float": lambda m, fn, x: x[1.5],
    "subscript_text": lambda m, fn, x: x["a"],
    "subscript_step": lambda m, fn, x: x[::0],
    "subscript_ellipsis": lambda m, fn, x: x[..., 1],
    "subscript_of_a_scalar": lambda m, fn, x: fn.reductions.sum(x)[0],
    "subscript_node_float": lambda m, fn, x: x[fn.random.uniform(range=(0, 1))],
    "reshape_volume": lambda m, fn, x: fn.reshape(x, shape=[7, 7]),
    "reshape_two_wild": lambda m, fn, x: fn.reshape(x, shape=[-1, -1]),
    "reshape_wild_indivisible": lambda m, fn, x: fn.reshape(x, shape=[-1, 7]),
    "reshape_both": lambda m, fn, x: fn.reshape(x, shape=[-1], rel_shape=[-1]),
    "reshape_nothing": lambda m, fn, x: fn.reshape(x),
    "reshape_layout": lambda m, fn, x: fn.reshape(x, shape=[60], layout="HW"),
    "reshape_src": lambda m, fn, x: fn.reshape(x, src_dims=[0, 7]),
    "reshape_src_count": lambda m, fn, x: fn.reshape(x, src_dims=[0, 1], rel_shape=[1, 1, 1]),
    "reshape_src_missing": lambda m, fn, x: fn.reshape(x, src_dims=[0, 1]),
    "reinterpret_bytes": lambda m, fn, x: fn.reinterpret(
        fn.cast(x, dtype=m.types.UINT8), dtype=m.types.INT64
    ),
    "squeeze_extent": lambda m, fn, x: fn.squeeze(x, axes=[0]),
    "squeeze_both": lambda m, fn, x: fn.squeeze(x, axes=[0], axis_names="H"),
    "squeeze_nothing": lambda m, fn, x: fn.squeeze(x),
    "squeeze_name": lambda m, fn, x: fn.squeeze(x, axis_names="Z"),
    "squeeze_twice": lambda m, fn, x: fn.squeeze(x, axes=[0, 0]),
    "expand_nothing": lambda m, fn, x: fn.expand_dims(x),
    "expand_negative": lambda m, fn, x: fn.expand_dims(x, axes=[-1]),
    "expand_outside": lambda m, fn, x: fn.expand_dims(x, axes=[7]),
    "expand_names_count": lambda m, fn, x: fn.expand_dims(x, axes=[0, 1], new_axis_names="X"),
    "expand_names_no_layout": lambda m, fn, x: fn.expand_dims(
        fn.reshape(x, layout="", shape=[-1, 3]), axes=[1], new_axis_names="X"
    ),
    "expand_twice": lambda m, fn, x: fn.expand_dims(x, axes=[1, 1]),
    "transpose_short": lambda m, fn, x: fn.transpose(x, perm=[1, 0]),
    "transpose_twice": lambda m, fn, x: fn.transpose(x, perm=[1, 1, 0]),
    "transpose_layout": lambda m, fn, x: fn.transpose(x, perm=[1, 0, 2], output_layout="AB"),
    "cat_extents": lambda m, fn, x: fn.cat(x, x[:, 1:], axis=0),
    "cat_axis": lambda m, fn, x: fn.cat(x, x, axis=3),
    "cat_axis_name": lambda m, fn, x: fn.cat(x, x, axis_name="Q"),
    "cat_types": lambda m, fn, x: fn.cat(x, fn.cast(x, dtype=m.types.INT8)),
    "cat_both": lambda m, fn, x: fn.cat(x, x, axis=0, axis_name="H"),
    "cat_ranks": lambda m, fn, x: fn.cat(x, x[0]),
    "stack_shapes": lambda m, fn, x: fn.stack(x, x[1:]),
    "stack_axis": lambda m, fn, x: fn.stack(x, x, axis=5),
    "stack_name": lambda m, fn, x: fn.stack(x, x, axis_name="XY"),
    "sum_axis": lambda m, fn, x: fn.reductions.sum(x, axes=[3]),
    "sum_axis_twice": lambda m, fn, x: fn.reductions.sum(x, axes=[0, 0]),
    "sum_both": lambda m, fn, x: fn.reductions.sum(x, axes=[0], axis_names="H"),
    "sum_name": lambda m, fn, x: fn.reductions.sum(x, axis_names="Z"),
    "sum_dtype": lambda m, fn, x: fn.reductions.sum(x, dtype=m.types.INT32),
    "pad_shape": lambda m, fn, x: fn.pad(x, axes=[0], shape=[3, 3]),
    "pad_align": lambda m, fn, x: fn.pad(x, axes=[0], align=[0]),
    "pad_axis": lambda m, fn, x: fn.pad(x, axes=[9]),
    "pad_both": lambda m, fn, x: fn.pad(x, axes=[0], axis_names="W"),
    # arguments
    "resize_nothing": lambda m, fn, x: fn.resize(x),
    "resize_both": lambda m, fn, x: fn.resize(x, resize_x=3, resize_shorter=4),
    "resize_size_and_x": lambda m, fn, x: fn.resize(x, resize_x=3, size=[4, 4]),
    "resize_mode": lambda m, fn, x: fn.resize(x, size=[4, 4], mode="fit"),
    "resize_rank": lambda m, fn, x: fn.resize(x[0], size=[4, 4]),
    "resize_layout": lambda m, fn, x: fn.resize(fn.reshape(x, layout="ABC"), size=[4, 4]),
    "resize_roi": lambda m, fn, x: fn.resize(x, size=[4, 4], roi_start=[0, 0]),
    "resize_size_count": lambda m, fn, x: fn.resize(x, size=[4, 4, 4]),
    "resize_type": lambda m, fn, x: fn.resize(fn.cast(x, dtype=m.types.BOOL), size=[4, 4]),
    "resize_out_type": lambda m, fn, x: fn.resize(x, size=[4, 4], dtype=m.types.INT64),
    "rotate_rank": lambda m, fn, x: fn.rotate(x[0], angle=3.0),
    "warp_matrix": lambda m, fn, x: fn.warp_affine(x, matrix=[1.0, 2, 3]),
    "warp_no_matrix": lambda m, fn, x: fn.warp_affine(x),
    "erase_anchor_alone": lambda m, fn, x: fn.erase(x, anchor=[0, 0]),
    "erase_counts": lambda m, fn, x: fn.erase(x, anchor=[0, 0, 1], shape=[1, 1], axes=[0, 1]),
    "erase_axis_name": lambda m, fn, x: fn.erase(x, anchor=[0, 0], shape=[1, 1], axis_names="XY"),
    "normalize_axes_names": lambda m, fn, x: fn.normalize(x, axes=[0], axis_names="H"),
    "normalize_axis": lambda m, fn, x: fn.normalize(x, axes=[4]),
    "blur_nothing": lambda m, fn, x: fn.gaussian_blur(x),
    "blur_even": lambda m, fn, x: fn.gaussian_blur(x, window_size=4),
    "blur_negative": lambda m, fn, x: fn.gaussian_blur(x, window_size=-3),
    "blur_sigma": lambda m, fn, x: fn.gaussian_blur(x, sigma=-1.0),
    "laplacian_even": lambda m, fn, x: fn.laplacian(x, window_size=4),
    "laplacian_scale": lambda m, fn, x: fn.laplacian(x, scale=[1.0, 2.0], normalized_kernel=True),
    "one_hot_classes": lambda m, fn, x: fn.one_hot(x, num_classes=-1),
    "one_hot_axis": lambda m, fn, x: fn.one_hot(x, num_classes=3, axis=5),
    "lookup_counts": lambda m, fn, x: fn.lookup_table(
        fn.cast(x, dtype=m.types.UINT8), keys=[1, 2], values=[1]
    ),
    "lookup_negative": lambda m, fn, x: fn.lookup_table(
        fn.cast(x, dtype=m.types.UINT8), keys=[-1], values=[1]
    ),
    "lookup_floats": lambda m, fn, x: fn.lookup_table(x, keys=[1], values=[1]),
    "uniform_backwards": lambda m, fn, x: fn.random.uniform(range=[2, 1]),
    "uniform_one": lambda m, fn, x: fn.random.uniform(range=[2]),
    "normal_negative_shape": lambda m, fn, x: fn.random.normal(shape=[-1]),
    "choice_sum": lambda m, fn, x: fn.random.choice(3, p=[0.2, 0.2, 0.2]),
    "choice_negative": lambda m, fn, x: fn.random.choice(-3),
    "choice_length": lambda m, fn, x: fn.random.choice(3, p=[0.5, 0.5]),
    "beta_alpha": lambda m, fn, x: fn.random.beta(alpha=-1.0),
    "permute_outside": lambda m, fn, x: fn.permute_batch(x, indices=[7, 0]),
    "permute_count": lambda m, fn, x: fn.permute_batch(x, indices=[0]),
    "batch_permutation": lambda m, fn, x: fn.batch_permutation(
        no_fixed_points=True, allow_repetitions=3, nothing=3
    ),
    "sequence_order": lambda m, fn, x: fn.sequence_rearrange(
        fn.reshape(x, layout="FHW"), new_order=[0, 9]
    ),
    "sequence_negative": lambda m, fn, x: fn.sequence_rearrange(
        fn.reshape(x, layout="FHW"), new_order=[-1]
    ),
    "sequence_empty": lambda m, fn, x: fn.sequence_rearrange(
        fn.reshape(x, layout="FHW"), new_order=[]
    ),
    "sequence_layout": lambda m, fn, x: fn.sequence_rearrange(x, new_order=[0]),
    "box_columns": lambda m, fn, x: fn.bb_flip(x),
    "paste_ratio": lambda m, fn, x: fn.paste(
        fn.cast(x, dtype=m.types.UINT8), fill_value=[1, 2, 3], ratio=0.5
    ),
    "paste_fill": lambda m, fn, x: fn.paste(
        fn.cast(x, dtype=m.types.UINT8), fill_value=[1, 2], ratio=2
    ),
    "coord_matrix": lambda m, fn, x: fn.coord_transform(x, M=[1.0, 2]),
    "coord_both": lambda m, fn, x: fn.coord_transform(x, MT=[1.0] * 12, T=[1.0]),
    "rotation_axis": lambda m, fn, x: fn.transforms.rotation(angle=3.0, axis=[1.0, 2]),
    "rotation_center": lambda m, fn, x: fn.transforms.rotation(angle=3.0, center=[1.0, 2, 3]),
    "shear_both": lambda m, fn, x: fn.transforms.shear(shear=[1.0, 2], angles=[1.0, 2]),
    "mirror_std_zero": lambda m, fn, x: fn.crop_mirror_normalize(x, mean=[1.0, 2], std=[1.0]),
    "mirror_out_layout": lambda m, fn, x: fn.crop_mirror_normalize(x, output_layout="XYZ"),
    "mirror_dtype": lambda m, fn, x: fn.crop_mirror_normalize(x, dtype=m.types.INT64),
    "colour_channels": lambda m, fn, x: fn.color_space_conversion(
        fn.cast(x[:, :, :2], dtype=m.types.UINT8), image_type=m.types.RGB, output_type=m.types.GRAY
    ),
    "hsv_rank": lambda m, fn, x: fn.hsv(x[0]),
    "equalize_type": lambda m, fn, x: fn.equalize(x),
    "clahe_type": lambda m, fn, x: fn.clahe(x),
    "jpeg_type": lambda m, fn, x: fn.jpeg_compression_distortion(x, quality=50),
    "grid_tile": lambda m, fn, x: fn.grid_mask(x, tile=0, ratio=0.5),
    "salt_prob": lambda m, fn, x: fn.noise.salt_and_pepper(x, prob=1.5),
    "multi_paste": lambda m, fn, x: fn.multi_paste(fn.cast(x, dtype=m.types.UINT8), in_ids=[7]),
    "debayer_pattern": lambda m, fn, x: fn.experimental.debayer(
        fn.cast(x[:, :, 0], dtype=m.types.UINT8), blue_position=[2, 0]
    ),
    "filter_rank": lambda m, fn, x: fn.experimental.filter(
        x, fn.constant(fdata=[1.0, 1.0], shape=[2])
    ),
    # sound
    "spectrogram_rank": lambda m, fn, x: fn.spectrogram(x),
    "spectrogram_window": lambda m, fn, x: fn.spectrogram(
        fn.reshape(x, shape=[-1]), nfft=16, window_length=20
    ),
    "spectrogram_step": lambda m, fn, x: fn.spectrogram(
        fn.reshape(x, shape=[-1]), nfft=16, window_length=16, window_step=-1
    ),
    "spectrogram_power": lambda m, fn, x: fn.spectrogram(
        fn.reshape(x, shape=[-1]), nfft=16, window_length=16, power=3
    ),
    "spectrogram_layout": lambda m, fn, x: fn.spectrogram(
        fn.reshape(x, shape=[-1]), nfft=16, window_length=16, layout="xx"
    ),
    "spectrogram_window_fn": lambda m, fn, x: fn.spectrogram(
        fn.reshape(x, shape=[-1]), nfft=16, window_length=16, window_fn=[1.0]
    ),
    "mel_freqs": lambda m, fn, x: fn.mel_filter_bank(x, freq_low=1000.0, freq_high=10.0),
    "mel_formula": lambda m, fn, x: fn.mel_filter_bank(x, mel_formula="other"),
    "mel_filters": lambda m, fn, x: fn.mel_filter_bank(x, nfilter=0),
    "mfcc_type": lambda m, fn, x: fn.mfcc(x, dct_type=7),
    "mfcc_n": lambda m, fn, x: fn.mfcc(x, n_mfcc=-1),
    "mfcc_axis": lambda m, fn, x: fn.mfcc(x, axis=8),
    "mfcc_lifter_ortho": lambda m, fn, x: fn.mfcc(x, dct_type=1, normalize=True),
    "resample_both": lambda m, fn, x: fn.audio_resample(
        fn.reshape(x, shape=[-1]), in_rate=1.0, out_rate=2.0, scale=2.0
    ),
    "resample_one": lambda m, fn, x: fn.audio_resample(fn.reshape(x, shape=[-1]), in_rate=1.0),
    "resample_negative": lambda m, fn, x: fn.audio_resample(
        fn.reshape(x, shape=[-1]), in_rate=-1.0, out_rate=2.0
    ),
    "resample_quality": lambda m, fn, x: fn.audio_resample(
        fn.reshape(x, shape=[-1]), scale=2.0, quality=101
    ),
    "preemphasis_border": lambda m, fn, x: fn.preemphasis_filter(
        fn.reshape(x, shape=[-1]), border="wrap"
    ),
    "power_axis": lambda m, fn, x: fn.power_spectrum(x, axis=6),
    # readers and decoders
    "file_nothing": lambda m, fn, x: fn.readers.file()[0],
    "file_two": lambda m, fn, x: fn.readers.file(files=["a"], file_list="b")[0],
    "file_labels": lambda m, fn, x: fn.readers.file(files=["a", "b"], labels=[1])[0],
    "file_missing_root": lambda m, fn, x: fn.readers.file(file_root="/nonexistent/place")[0],
    "file_empty": lambda m, fn, x: fn.readers.file(files=[])[0],
    "file_shards": lambda m, fn, x: fn.readers.file(files=["a", "b"], shard_id=3, num_shards=2)[0],
    "file_shuffles": lambda m, fn, x: fn.readers.file(
        files=["a", "b"], shuffle_after_epoch=True, random_shuffle=True
    )[0],
    "file_stick": lambda m, fn, x: fn.readers.file(
        files=["a", "b"], shuffle_after_epoch=True, stick_to_shard=True
    )[0],
    "file_filters": lambda m, fn, x: fn.readers.file(files=["a"], file_filters=["*.x"])[0],
    "numpy_missing": lambda m, fn, x: fn.readers.numpy(files=["/nonexistent/a.npy"]),
    "numpy_nothing": lambda m, fn, x: fn.readers.numpy(),
    "numpy_roi": lambda m, fn, x: fn.readers.numpy(
        files=["/nonexistent/a.npy"], roi_start=[1], rel_roi_start=[0.1]
    ),
    "coco_nothing": lambda m, fn, x: fn.readers.coco(file_root="/tmp")[0],
    "coco_missing": lambda m, fn, x: fn.readers.coco(
        file_root="/tmp", annotations_file="/nonexistent.json"
    )[0],
    "tfrecord_counts": lambda m, fn, x: fn.readers.tfrecord(
        path=["a", "b"],
        index_path=["a"],
        features={"a": m.load("tfrecord").FixedLenFeature((), m.load("tfrecord").int64, 0)},
    )["a"],
    "webdataset_counts": lambda m, fn, x: fn.readers.webdataset(
        paths=["a.tar", "b.tar"], index_paths=["a.idx"], ext=["jpg"]
    )[0],
    "webdataset_missing": lambda m, fn, x: fn.readers.webdataset(
        paths=["a.tar"], ext=["jpg"], missing_component_behavior="other"
    )[0],
    "sequence_missing": lambda m, fn, x: fn.readers.sequence(
        file_root="/nonexistent/place", sequence_length=2
    ),
    "decode_garbage": lambda m, fn, x: fn.decoders.image(
        fn.reshape(fn.cast(x, dtype=m.types.UINT8), shape=[-1])
    ),
    "decode_type": lambda m, fn, x: fn.decoders.image(fn.reshape(x, shape=[-1])),
    "decode_rank": lambda m, fn, x: fn.decoders.image(fn.cast(x, dtype=m.types.UINT8)),
    "decode_sound": lambda m, fn, x: fn.decoders.audio(
        fn.reshape(fn.cast(x, dtype=m.types.UINT8), shape=[-1])
    )[0],
    "decode_crop": lambda m, fn, x: fn.decoders.image_crop(
        fn.reshape(fn.cast(x, dtype=m.types.UINT8), shape=[-1]), crop=(1, 2, 3, 4)
    ),
    "peek": lambda m, fn, x: fn.peek_image_shape(
        fn.reshape(fn.cast(x, dtype=m.types.UINT8), shape=[-1])
    ),
    "io_missing": lambda m, fn, x: fn.io.file.read(
        m.types.Constant(m.np.frombuffer(b"/nonexistent/x", "uint8"))
    ),
    # calls
    "argument_unknown": lambda m, fn, x: fn.crop(x, cropp=3),
    "argument_missing": lambda m, fn, x: fn.cast(x),
    "argument_node": lambda m, fn, x: fn.cat(x, x, axis=x),
    "argument_text": lambda m, fn, x: fn.flip(x, horizontal="yes"),
    "argument_list": lambda m, fn, x: fn.flip(x, horizontal=[1, 0]),
    "argument_shape": lambda m, fn, x: fn.flip(x, horizontal=fn.constant(idata=[1, 2], shape=[2])),
    "argument_type": lambda m, fn, x: fn.flip(x, horizontal=fn.random.uniform(range=(0, 1))),
    "argument_dict": lambda m, fn, x: fn.crop(x, crop={1: 2}),
    "argument_dtype": lambda m, fn, x: fn.cast(x, dtype=m.np.float32),
    "argument_old_and_new": lambda m, fn, x: fn.crop_mirror_normalize(
        x, output_dtype=m.types.FLOAT, dtype=m.types.FLOAT
    ),
    "inputs_many": lambda m, fn, x: fn.flip(x, x),
    "inputs_none": lambda m, fn, x: fn.flip(),
    "input_text": lambda m, fn, x: fn.flip("abc"),
    "input_object": lambda m, fn, x: fn.flip(object()),
    "input_mixed_list": lambda m, fn, x: fn.flip([x, "a"]),
    "input_sets": lambda m, fn, x: fn.cat([x, x], [x, x, x]),
    "device": lambda m, fn, x: fn.flip(x, device="tpu"),
    "constant_dict": lambda m, fn, x: m.types.Constant({}),
    "constant_counts": lambda m, fn, x: fn.constant(idata=[1, 2, 3], shape=[2]),
    "constant_both": lambda m, fn, x: fn.constant(idata=[1], fdata=[1.0]),
    "external_outputs": lambda m, fn, x: fn.external_source(num_outputs=-1),
    "external_cycle": lambda m, fn, x: fn.external_source(source=lambda: 3, cycle=True),
    "external_parallel": lambda m, fn, x: fn.external_source(source=lambda: 3, parallel=True),
    "external_batch_info": lambda m, fn, x: fn.external_source(
        source=[3], batch_info=True, batch=False
    ),
    "external_not": lambda m, fn, x: fn.external_source(source=3),
    "external_args": lambda m, fn, x: fn.external_source(source=lambda a, b: 3),
    # nodes
    "node_bool": lambda m, fn, x: 1 if x else 2,
    "node_iterate": lambda m, fn, x: [one for one in x][0],
    "node_length": lambda m, fn, x: len(x),
    "node_float": lambda m, fn, x: float(x),
    "node_text": lambda m, fn, x: x + "a",
    "node_none": lambda m, fn, x: x * None,
    "node_in": lambda m, fn, x: 3 in x,
    "node_and": lambda m, fn, x: x & 3.5,
    "node_shift": lambda m, fn, x: x << 2,
    "node_broadcast": lambda m, fn, x: x + x[1:],
    "node_not": lambda m, fn, x: ~x,
    "node_int_min": lambda m, fn, x: m.math.min(x),
    "node_matmul": lambda m, fn, x: x @ x,
    "node_attribute": lambda m, fn, x: x.nothing,
    "node_property": lambda m, fn, x: x.property("nothing"),
}
# In a dictionary of their own: messages show the line of a call.
SAID = {
    "crop_outside": (RuntimeError, "*out of bounds*"),
    "crop_rank": (ValueError, '*layout "W"*allowed layouts*HWC*'),
    "crop_position": (RuntimeError, "*Anchor*2*out of range*"),
    "crop_both": (RuntimeError, "*`crop_w`*`crop_h`*together*"),
    "crop_one": (RuntimeError, "*`crop_w`*`crop_h`*together*"),
    "slice_outside": (RuntimeError, "*out of bounds*"),
    "slice_end_and_shape": (RuntimeError, '*"end"*"shape"*mutually exclusive*'),
    "slice_start_twice": (RuntimeError, '*"start"*"rel_start"*mutually exclusive*'),
    "slice_axes_twice": (RuntimeError, "*xis*0*more than once*"),
    "slice_axis": (RuntimeError, "*out of range*[[]-3, 2]*"),
    "slice_axis_name": (RuntimeError, "*xis*not present*layout*"),
    "slice_inputs": (RuntimeError, "*named*arguments*positional inputs*"),
    "subscript_outside": (RuntimeError, "*Index 7*out of range*axis 0*length 4*"),
    "subscript_negative": (RuntimeError, "*Index -7*out of range*"),
    "subscript_many": (RuntimeError, "*Too many indices*4*3D*"),
    "subscript_float": (TypeError, "*Invalid type for an index*"),
    "subscript_text": (TypeError, "*Invalid type*index*"),
    "subscript_step": (RuntimeError, "*Step*zero*"),
    "subscript_ellipsis": (NotImplementedError, "*Ellipsis*not implemented*"),
    "subscript_of_a_scalar": (RuntimeError, "*index*scalar*"),
    "subscript_node_float": (RuntimeError, "*index*integral*float*"),
    "reshape_volume": (RuntimeError, "*same size*Actual volume:*60*Requested volume:*49*"),
    "reshape_two_wild": (RuntimeError, "*Only one negative extent*"),
    "reshape_wild_indivisible": (RuntimeError, "*same size*60*"),
    "reshape_both": (RuntimeError, "*`shape`*`rel_shape`*mutually exclusive*"),
    "reshape_nothing": (RuntimeError, "*no-op*neither*shape*layout*"),
    "reshape_layout": (RuntimeError, "*layout 'HW'*not compatible*1D*"),
    "reshape_src": (RuntimeError, "*src_dims*out of bounds*range*0..2*"),
    "reshape_src_count": (RuntimeError, "*`src_dims`*`rel_shape`*different lengths*"),
    "reshape_src_missing": (RuntimeError, "*volume*20 elements*60*"),
    "reinterpret_bytes": (RuntimeError, "*innermost*not divisible*type*"),
    "squeeze_extent": (RuntimeError, "*volume*15 elements*60*"),
    "squeeze_both": (RuntimeError, "*both*axes*axis_names*"),
    "squeeze_nothing": (RuntimeError, "*Missing*``axes``*``axis_names``*"),
    "squeeze_name": (RuntimeError, "*Axis 'Z'*not present*layout*"),
    "squeeze_twice": (RuntimeError, "*at least twice*"),
    "expand_nothing": (RuntimeError, '*required arguments*ExpandDims*"axes"*'),
    "expand_negative": (RuntimeError, "*xis*negative*"),
    "expand_outside": (RuntimeError, "*not enough dimensions*axes*"),
    "expand_names_count": (RuntimeError, "*2 new dimensions*1*names*"),
    "expand_names_no_layout": (RuntimeError, "*``new_axis_names`` requires*layout*"),
    "expand_twice": (RuntimeError, "*Duplicate axis*"),
    "transpose_short": (RuntimeError, "*dimensionality*3*permutation*"),
    "transpose_twice": (RuntimeError, "*Invalid permutation*`perm`*"),
    "transpose_layout": (RuntimeError, "*"),
    "cat_extents": (RuntimeError, "*differ in size*concatenation axis*"),
    "cat_axis": (RuntimeError, "*Invalid axis argument, 3*[[] -3, 2]*"),
    "cat_axis_name": (RuntimeError, "*``axis_name``*'Q'*layout \"HWC\"*"),
    "cat_types": (RuntimeError, "*same type*dimensions*float*int8*"),
    "cat_both": (RuntimeError, "*``axis``*``axis_name``*together*"),
    "cat_ranks": (RuntimeError, "*same*number of dimensions*3-D*2-D*"),
    "stack_shapes": (RuntimeError, "*equal shape*"),
    "stack_axis": (RuntimeError, "*Invalid axis*5*[[] -3, 3]*"),
    "stack_name": (RuntimeError, "*``axis_name``*single character*XY*"),
    "sum_axis": (IndexError, "*Axis index out of range: 3*[[]-3,2]*"),
    "sum_axis_twice": (ValueError, "*Duplicate axis*"),
    "sum_both": (RuntimeError, "*`axes`*`axis_names`*mutually exclusive*"),
    "sum_name": (RuntimeError, "*Axis 'Z'*not present*layout*"),
    "sum_dtype": (RuntimeError, "*Unsupported types*float*int32*"),
    "pad_shape": (RuntimeError, '*"shape" expected shape 1 but got 2 values*'),
    "pad_align": (RuntimeError, "*`align`*positive*"),
    "pad_axis": (RuntimeError, "*Axis 9 out of range*[[]-3, 2]*"),
    "pad_both": (RuntimeError, '*"axes"*"axis_names"*mutually exclusive*'),
    "resize_nothing": (RuntimeError, "*one method*size*resize_x*"),
    "resize_both": (RuntimeError, "*one method*size*resize_shorter*"),
    "resize_size_and_x": (RuntimeError, "*one method*size*"),
    "resize_mode": (RuntimeError, "*Invalid*mode*fit*"),
    "resize_rank": (ValueError, '*layout "WC"*not match*allowed layouts*HWC*'),
    "resize_layout": (ValueError, '*layout "ABC"*not match*allowed layouts*'),
    "resize_roi": (RuntimeError, "*roi_start*roi_end*together*"),
    "resize_size_count": (RuntimeError, '*"size" expects*single value*list of 2*3 given*'),
    "resize_type": (RuntimeError, "*Unsupported type: bool*uint8*float*"),
    "resize_out_type": (RuntimeError, "*output*original type*float*int64*"),
    "rotate_rank": (ValueError, '*layout "WC"*not match*'),
    "warp_matrix": (RuntimeError, "*`matrix`*6 elements*"),
    "warp_no_matrix": (RuntimeError, "*`matrix`*must be provided*"),
    "erase_anchor_alone": (RuntimeError, "*"),
    "erase_counts": (RuntimeError, "*"),
    "erase_axis_name": (RuntimeError, "*Axis 'X'*not present*layout*"),
    "normalize_axes_names": (RuntimeError, "*`axes`*`axis_names`*mutually exclusive*"),
    "normalize_axis": (RuntimeError, "*axis index 4*out of*range*0..2*"),
    "blur_nothing": (RuntimeError, "*`sigma`*`window_size`*0*same time*"),
    "blur_even": (RuntimeError, "*indow*odd*got: 4*"),
    "blur_negative": (RuntimeError, "*`window_size`*non-negative*got -3*sample: 0*"),
    "blur_sigma": (RuntimeError, "*`sigma`*non-negative*got -1*sample: 0*"),
    "laplacian_even": (RuntimeError, "*indow size*odd integer between 3 and*got 4 for sample: 0*"),
    "laplacian_scale": (RuntimeError, "*``scale``*``normalized_kernel``*"),
    "one_hot_classes": (RuntimeError, "*"),
    "one_hot_axis": (RuntimeError, "*axis*5*outside*[[]-1, 3]*"),
    "lookup_counts": (RuntimeError, "*`keys` size*match*`values` size*"),
    "lookup_negative": (RuntimeError, "*`keys`*range*65535*"),
    "lookup_floats": (RuntimeError, "*Unsupported input type: float*"),
    "uniform_backwards": (RuntimeError, "*Invalid range*[[]2, 1)*"),
    "uniform_one": (RuntimeError, "*"),
    "normal_negative_shape": (RuntimeError, "*"),
    "choice_sum": (RuntimeError, "*um of probabilities*1.0*0.6*sample: 0*"),
    "choice_negative": (RuntimeError, "*positive number of elements*-3*"),
    "choice_length": (RuntimeError, '*"p" expected shape 3*2 values*'),
    "beta_alpha": (RuntimeError, "*"),
    "permute_outside": (RuntimeError, "*"),
    "permute_count": (RuntimeError, "*"),
    "batch_permutation": (KeyError, "*"),
    "sequence_order": (RuntimeError, "*"),
    "sequence_negative": (RuntimeError, "*"),
    "sequence_empty": (RuntimeError, "*"),
    "sequence_layout": (RuntimeError, "*"),
    "box_columns": (ValueError, "*"),
    "paste_ratio": (RuntimeError, "*"),
    "paste_fill": (RuntimeError, "*"),
    "coord_matrix": (RuntimeError, "*matrix*2 elements*3*"),
    "coord_both": (RuntimeError, "*``MT``*``M``*``T``*"),
    "rotation_axis": (RuntimeError, '*"axis" expected shape 3*got 2 values*'),
    "rotation_center": (RuntimeError, '*"center" expected shape 2*got 3 values*'),
    "shear_both": (RuntimeError, "*one*``shear``*``angles``*"),
    "mirror_std_zero": (RuntimeError, "*number of*channel*match*"),
    "mirror_out_layout": (RuntimeError, "*layout*not a permutation*input layout*"),
    "mirror_dtype": (RuntimeError, "*ot supported output type:*int64*"),
    "colour_channels": (RuntimeError, "*Expected 3*Got 2*"),
    "hsv_rank": (ValueError, '*layout "WC"*not match*'),
    "equalize_type": (RuntimeError, "*Unsupported input type*equalize*float*uint8*"),
    "clahe_type": (RuntimeError, '*required arguments*Clahe*"clip_limit"*'),
    "jpeg_type": (RuntimeError, "*"),
    "grid_tile": (RuntimeError, "*ile*positive*"),
    "salt_prob": (RuntimeError, "*oise probability*[[]0.0, 1.0]*1.5*"),
    "multi_paste": (RuntimeError, "*in_idx*range*7*2*"),
    "debayer_pattern": (RuntimeError, "*`blue_position`*2x2*"),
    "filter_rank": (RuntimeError, "*ilter dimensionality*spatial dimensions*"),
    "spectrogram_rank": (RuntimeError, "*1D*"),
    "spectrogram_window": (RuntimeError, "*indow length (20)*FFT size (16)*"),
    "spectrogram_step": (RuntimeError, "*Invalid window step: -1*"),
    "spectrogram_power": (RuntimeError, "*`power`*1*2*received 3*"),
    "spectrogram_layout": (RuntimeError, "*Unexpected layout: xx*"),
    "spectrogram_window_fn": (RuntimeError, "*indow function*`window_length`*"),
    "mel_freqs": (RuntimeError, "*freq_high*range*freq_low*"),
    "mel_formula": (RuntimeError, "*Unsupported mel_formula*other*slaney*htk*"),
    "mel_filters": (RuntimeError, "*number of filters*> 0*"),
    "mfcc_type": (RuntimeError, "*Unsupported DCT type: 7*1, 2, 3, 4*"),
    "mfcc_n": (RuntimeError, "*number of MFCCs*> 0*"),
    "mfcc_axis": (RuntimeError, "*Axis 8 is out of bounds*[[]0,3)*"),
    "mfcc_lifter_ortho": (RuntimeError, "*rtho*not supported*DCT type I*"),
    "resample_both": (RuntimeError, "*``scale``*``out_length``*together*"),
    "resample_one": (RuntimeError, "*``in_rate``*``out_rate``*together*"),
    "resample_negative": (RuntimeError, "*rates*positive*in_rate == -1*"),
    "resample_quality": (RuntimeError, "*``quality`` out of range: 101*[[]0..100]*"),
    "preemphasis_border": (RuntimeError, "*``border``*wrap*not supported*"),
    "power_axis": (RuntimeError, "*axis 6 is out of bounds*[[]0, 3)*"),
    "file_nothing": (RuntimeError, "*``file_root``*required*``files``*``file_list``*"),
    "file_two": (RuntimeError, "*``files``*``file_list``*not both*"),
    "file_labels": (RuntimeError, "*1 labels*2 files*"),
    "file_missing_root": (RuntimeError, "*ailed to open*/nonexistent/place*"),
    "file_empty": (RuntimeError, "*``files``*empty*"),
    "file_shards": (RuntimeError, "*num_shards*greater*shard_id*"),
    "file_shuffles": (RuntimeError, "*shuffle_after_epoch*random_shuffle*both*"),
    "file_stick": (RuntimeError, "*shuffle_after_epoch*stick_to_shard*both*"),
    "file_filters": (RuntimeError, "*mapping failed: a*"),
    "numpy_missing": (RuntimeError, "*/nonexistent/a.npy*"),
    "numpy_nothing": (RuntimeError, "*``file_root``*required*"),
    "numpy_roi": (RuntimeError, '*"roi_start"*"rel_roi_start"*mutually exclusive*'),
    "coco_nothing": (RuntimeError, "*``annotations_file``*``preprocessed_annotations``*"),
    "coco_missing": (RuntimeError, "*ould not open*/nonexistent.json*"),
    "tfrecord_counts": (RuntimeError, "*umber of index files*number of data files*"),
    "webdataset_counts": (RuntimeError, "*umber of index files*number of*"),
    "webdataset_missing": (RuntimeError, "*missing_component_behavior*'other'*skip, error, empty*"),
    "sequence_missing": (RuntimeError, "*/nonexistent/place*failed*file_root*"),
    "decode_garbage": (RuntimeError, "*"),
    "decode_type": (RuntimeError, "*"),
    "decode_rank": (RuntimeError, "*"),
    "decode_sound": (RuntimeError, "*ailed to open*"),
    "decode_crop": (RuntimeError, "*`crop` argument*2 or 3 elements*"),
    "peek": (RuntimeError, "*"),
    "io_missing": (RuntimeError, "*/nonexistent/x*"),
    "argument_unknown": (KeyError, '*rgument "cropp"*not defined*operator "Crop"*'),
    "argument_missing": (RuntimeError, '*required arguments*Cast*"dtype"*'),
    "argument_node": (
        TypeError,
        "*argument `axis`*`nvidia.dali.fn.cat`*not be a 'DataNode' but a 'int'*",
    ),
    "argument_text": (ValueError, "*invalid literal for int()*yes*"),
    "argument_list": (TypeError, "*int() argument must be*not 'list'*"),
    "argument_shape": (RuntimeError, '*Unexpected shape of argument "horizontal"*2*'),
    "argument_type": (RuntimeError, '*Unexpected type of argument "horizontal"*int32*float*'),
    "argument_dict": (TypeError, "*float() argument must be*not 'dict'*"),
    "argument_dtype": (TypeError, "*"),
    "argument_old_and_new": (
        TypeError,
        "*unexpected 'output_dtype' deprecated argument when 'dtype'*",
    ),
    "inputs_many": (ValueError, "*nvidia.dali.fn.flip expects*1 inputs*received 2*"),
    "inputs_none": (ValueError, "*expects*1 inputs*received 0*"),
    "input_text": (TypeError, "*nvidia.dali.fn.flip*expected*'DataNode'*input `0` of type 'str'*"),
    "input_object": (TypeError, "*input `0` of type 'object'*"),
    "input_mixed_list": (TypeError, "*input `0` of type 'list'*"),
    "input_sets": (ValueError, "*ultiple Input Sets*nvidia.dali.fn.cat*same length*"),
    "device": (ValueError, '*device*"tpu"*'),
    "constant_dict": (TypeError, "*Expected scalar value*dict*"),
    "constant_counts": (RuntimeError, "*number of values*not match*shape*"),
    "constant_both": (RuntimeError, "*`fdata`*`idata`*mutually exclusive*"),
    "external_outputs": (ValueError, "*``num_outputs``*``source``*"),
    "external_cycle": (ValueError, "*`cycle`*`source` is iterable*"),
    "external_parallel": (TypeError, "*allable*parallel*exactly one argument*"),
    "external_batch_info": (StopIteration, "*"),
    "external_not": (TypeError, "*`source`*callable*iterable*generator*"),
    "external_args": (TypeError, "*`source` callable*0 or 1*argument*"),
    "node_bool": (TypeError, "*DataNode*conditional context*`if` statement*"),
    "node_iterate": (TypeError, "*not iterable*"),
    "node_length": (TypeError, "*no len()*"),
    "node_float": (TypeError, "*not 'DataNode'*"),
    "node_text": (TypeError, "*Expected scalar value*str*"),
    "node_none": (TypeError, "*Expected scalar value*NoneType*"),
    "node_in": (TypeError, "*"),
    "node_and": (RuntimeError, "*bitwise operator `&`*integral type*"),
    "node_shift": (RuntimeError, "*bitwise operator `<<`*integral type*"),
    "node_broadcast": (RuntimeError, "*an't broadcast shapes*"),
    "node_not": (RuntimeError, "*bitwise operator `~`*integral type*"),
    "node_int_min": (TypeError, "*"),
    "node_matmul": (TypeError, "*unsupported operand*"),
    "node_attribute": (AttributeError, "*no attribute 'nothing'*"),
    "node_property": (RuntimeError, "*property key*nothing*"),
}


def families(names):
    """Names by what stands before their "_"."""
    found = {}
    for name in names:
        found.setdefault(name.partition("_")[0], []).append(name)
    return found


def said(m, call, kind, glob):
    """ "refused" where a call is, with that class and those words."""
    rows = [m.np.ones((4, 5, 3), "float32")] * 2

    def define():
        x = m.fn.external_source(source=lambda: rows, layout="HWC")
        return call(m, m.fn, x)

    try:
        pipe = m.pipeline_def(batch_size=2, num_threads=1, device_id=None)(define)()
        pipe.build()
        pipe.run()
    except kind as error:
        return "refused" if fnmatch.fnmatchcase(str(error), glob) else f"other words: {error}"
    except Exception as error:
        return f"another class: {type(error)}"
    return "nothing raised"


@each(*families(SAID))
def refused(m, family):
    names = families(SAID)[family]
    return {name: said(m, CALLS[name], *SAID[name]) for name in names}
