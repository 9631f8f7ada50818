"""The Agentic Inference Lab: which of prefix caching, prefill/decode split and speculation pays for your agent.

Importing this package does no work and needs neither vLLM, torch, Streamlit nor a GPU: an engine is a process.
"""

__version__ = "0.1.0"
