"""REPORT: one summary of an audit, rendered as HTML, PDF, Markdown, Excel, CSV, text, notebook cells and DataFrames."""
