"""The published WikiSum shards of Liu et al. 2018 as a source of articles."""

from tasks.sources.tensor2tensor.source import Tensor2TensorSettings, Tensor2TensorSource

__all__ = ["Tensor2TensorSettings", "Tensor2TensorSource"]
