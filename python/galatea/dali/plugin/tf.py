"""`nvidia.dali.plugin.tf`: not there; its names stand in for themselves, and raise where used."""

from ..names import stand_in as _stand_in

_WHY = "galatea.tensorflow makes a tf.data.Dataset of a pipeline"
DALIDataset = _stand_in("plugin.tf.DALIDataset", _WHY)
DALIIterator = _stand_in("plugin.tf.DALIIterator", _WHY)
DALIIteratorWrapper = _stand_in("plugin.tf.DALIIteratorWrapper", _WHY)
DALIRawIterator = _stand_in("plugin.tf.DALIRawIterator", _WHY)
