"""Export of a trained summarizer as a folder that `models.exported.load_exported` opens."""
