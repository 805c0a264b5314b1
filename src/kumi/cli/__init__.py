"""Floor 6: the command line, one file a command. It wires the rooms together and holds no rule."""
