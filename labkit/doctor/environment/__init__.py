"""Checks of the machine and of what is installed on it. Each takes the facts and judges one thing."""
