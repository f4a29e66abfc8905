"""A language model behind OpenAI's chat completions: whom to ask, what may be spent, and a client that pays once."""
