"""Two models on the same people: which groups gain or lose."""
