"""What is wrong with a machine, a profile or a recording, and what to do about it: findings, never repairs."""
