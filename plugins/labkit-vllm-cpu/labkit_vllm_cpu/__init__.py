"""What vLLM needs on a small CPU machine, for the Agentic Inference Lab. Importing this does no work."""
