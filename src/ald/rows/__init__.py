"""Where rows are: what the steps of an audit ask of them, and those in memory, which answer themselves."""
