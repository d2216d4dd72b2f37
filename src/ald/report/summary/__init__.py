"""Says once what every format shows: an audit in words, numbers and tables."""
