"""The papers' tables on our corpus, with the published figures next to the measured ones."""
