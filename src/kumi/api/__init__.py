"""Floor 0: the nouns. One module per API group, one scheme that knows every kind; no rule and no input or output."""
