"""Measurements of the method itself: how often it finds what is there, and how seldom what is not."""
