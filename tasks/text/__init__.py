"""Analysis of text: n-grams, tf-idf, sentences, discourse markers, entities."""
