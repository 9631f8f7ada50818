"""The agent loop, step kinds, tools and their sandbox, tasks and their hidden checks, scripted models."""
