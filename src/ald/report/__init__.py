"""REPORT: one summary of an audit, rendered as text, Markdown, CSV and DataFrames."""
