"""`nvidia.dali.plugin.paddle`: not there; its names raise where they are used."""

from ..names import stand_in as _stand_in
from .base_iterator import LastBatchPolicy as LastBatchPolicy

_WHY = "galatea.paddle loads pipelines into paddle's tensors"
DALIGenericIterator = _stand_in("plugin.paddle.DALIGenericIterator", _WHY)
DALIClassificationIterator = _stand_in("plugin.paddle.DALIClassificationIterator", _WHY)
feed_ndarray = _stand_in("plugin.paddle.feed_ndarray", _WHY)
