"""What the API fills in on create and update: one file a group, each a function that changes a JSON object in place."""
