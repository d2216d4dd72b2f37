"""Where data is that does not come to us: engines that group and count it, and those that keep it and count next to it."""
