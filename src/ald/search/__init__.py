"""GROW: which groups are worth testing, found on D1 alone."""
