"""The papers' tables on our corpus, the published figures beside the measured ones."""
