"""What `requirements/setup_venv.py` does, step by step. Standard library only."""
