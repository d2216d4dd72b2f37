"""The pages, made on the server of escaping markup: each is a function of what the server knows."""
