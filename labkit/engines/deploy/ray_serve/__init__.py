"""Ray Serve LLM: a config file for `serve run`, read by Ray's own builders of OpenAI applications.

`engine.py` turns a process of the plan into an LLMConfig, `connector.py` leaves to Ray what Ray does itself in a split,
`application.py` puts them together, `refusals.py` says what Ray Serve cannot express.
"""

from labkit.engines.deploy.ray_serve.application import ray_serve_file

__all__ = ["ray_serve_file"]
