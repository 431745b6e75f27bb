"""`nvidia.dali.plugin`: iterators of frameworks."""
