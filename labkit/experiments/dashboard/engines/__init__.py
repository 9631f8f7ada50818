"""What the Engines page says: the fleet, its plans, logs and memory."""
