"""What is installed beside an engine, asked of the engine's own Python: metadata alone, nothing heavy is imported.

from labkit.engines.installed import installation
installation(engine_python(profile)).packages["torch"]
"""

from labkit.engines.installed.asking import Installation, installation

__all__ = ["Installation", "installation"]
