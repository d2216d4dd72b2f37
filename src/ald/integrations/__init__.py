"""What hands audits on to the tools beside this one. Each tool is imported in its own module only."""
