"""What a group is, apart from how it is found: criteria and their language, trees as data, and who is a member."""
