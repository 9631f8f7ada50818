"""The common words: arms, records and their columns, the clock, errors, names and paths. Imports nothing of labkit."""
