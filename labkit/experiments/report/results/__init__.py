"""The parts of the results section, one module each: its blocks, or none where its question is not asked."""
