"""Recordings of agent runs, and their replay under any arm."""
