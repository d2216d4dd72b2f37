"""Watches groups that were fixed beforehand: their gaps, window by window, and whether they changed."""
