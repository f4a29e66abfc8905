"""Documents split into candidate paragraphs, each kept or refused with a reason."""
