"""Rows that stay where they are: engines and clusters count, and only counts come back."""
