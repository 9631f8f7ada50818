"""Runs as folders, frames and exports; the only room that writes results."""
