"""What people and programs read: the result document and tables."""
