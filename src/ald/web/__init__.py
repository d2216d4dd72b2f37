"""The audit as a page: `ald serve`. Pages are made on the server; work on data is done by processes of its own."""
