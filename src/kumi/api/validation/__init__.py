"""What the API refuses: one file a group, each (new object, old object or None) -> every wrong field, with its path."""
