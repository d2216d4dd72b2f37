"""GROW: the conditional inference forest of Step 1, on D1 alone."""
