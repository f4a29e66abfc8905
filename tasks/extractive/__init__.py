"""A summary of whole sentences: learned worth of concepts and sentences, and the choice among them."""
