"""`nvidia.dali.plugin.pytorch.loader_evaluator`, which galatea has not."""

from ....names import getter, stand_in

LoaderEvaluator = stand_in(
    "plugin.pytorch.loader_evaluator.LoaderEvaluator",
    "it times a DataLoader; galatea.Loader.statistics() says how long each operator took",
)

__getattr__ = getter("plugin.pytorch.loader_evaluator")
