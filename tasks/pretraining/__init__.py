"""Denoising pre-training on the paragraphs of a corpus (Lewis et al. 2020): passages, and the training on them."""
