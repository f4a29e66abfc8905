"""A cited summary of a user's pages and files: a composition of the stages' functions on tables in memory."""
