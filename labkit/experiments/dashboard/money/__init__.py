"""What the Capacity-and-cost page says."""
