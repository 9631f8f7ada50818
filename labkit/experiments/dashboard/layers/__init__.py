"""What the Layers page says each layer did in a run."""
