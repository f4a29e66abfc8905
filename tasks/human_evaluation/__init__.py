"""Human evaluation: a blinded sample of summaries, forms for raters, and scores from their answers."""
