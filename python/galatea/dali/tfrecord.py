"""`nvidia.dali.tfrecord`: features of records."""

from galatea.tfrecord import (  # noqa: F401
    Feature,
    FixedLenFeature,
    VarLenFeature,
    float32,
    int64,
    string,
)
