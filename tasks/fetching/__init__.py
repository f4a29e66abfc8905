"""Fetching: requests that are polite and safe, what sites allow, and the reasons of what was not fetched."""
