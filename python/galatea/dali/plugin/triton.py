"""`nvidia.dali.plugin.triton`: marks pipelines for a server, which serializes them itself."""

from __future__ import annotations

from typing import Any


def autoserialize(dali_pipeline: Any) -> Any:
    """Marks a function below @pipeline_def; TypeError for anything else."""
    if not getattr(dali_pipeline, "_is_pipeline_def", False):
        raise TypeError("autoserialize is for functions below @pipeline_def")
    dali_pipeline._is_autoserialize = True
    return dali_pipeline
