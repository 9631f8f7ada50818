"""What the Layers page gets its data from: each section is worked out once for each state of a run."""

from __future__ import annotations

from labkit.experiments.dashboard.layers.prefix import prefix_section
from labkit.experiments.dashboard.layers.rows import layer_here
from labkit.experiments.dashboard.layers.spec import spec_section
from labkit.experiments.dashboard.layers.split import split_section

import loaders

here = loaders.per_run(layer_here)
prefix = loaders.per_run(prefix_section)
split = loaders.per_run(split_section)
spec = loaders.per_run(spec_section)
