"""The forest of conditional inference trees: counting, testing attributes, splitting nodes."""
