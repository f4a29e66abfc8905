"""Tokenizers of two kinds behind one contract: SentencePiece models, and those of Hugging Face folders."""
