"""What the Export page offers and packs, and the addresses that share a view."""
