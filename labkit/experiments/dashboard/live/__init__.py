"""What the Live page says of a run: the finding in words, tiles, swim lanes."""
