"""Fetching pages: politely, safely, and with an outcome for every URL."""
