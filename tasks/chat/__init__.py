"""A language model behind OpenAI's chat completions: its settings, its budget, and a client that pays for each answer
once."""
