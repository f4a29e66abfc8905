"""A cited summary of one's own pages and files: a composition of the stages' functions on tables in memory."""
