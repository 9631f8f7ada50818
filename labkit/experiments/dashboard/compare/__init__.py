"""What the Compare page says: what a run means, or two beside each other, and what limits it."""
