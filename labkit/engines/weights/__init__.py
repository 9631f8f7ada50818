"""Weights: what a model is called, where its files lie, and how they get there.

A model is named by a name of the lab (`smollm2-135m-instruct`), by a folder (`./my-model`) or by a Hugging Face id
(`owner/name`). Whichever it is, `path` answers with a folder that the engine can load.
"""

from labkit.engines.weights.models import ModelInfo, fetch, list_models, path

__all__ = ["ModelInfo", "fetch", "list_models", "path"]
