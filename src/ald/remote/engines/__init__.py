"""Engines that hold data which does not come to us: they group and count, or run what we send next to their rows."""
