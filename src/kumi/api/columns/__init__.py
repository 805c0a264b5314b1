"""What `kubectl get` shows of each built-in kind: one file a group, a tuple of columns a kind and the cells they need."""
