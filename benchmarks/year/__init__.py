"""A year of weekly retraining with faults drawn by seed."""
