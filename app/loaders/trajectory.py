"""What the trajectory page asks for: which trajectories a run has, and one of them."""

from __future__ import annotations

from labkit.experiments.dashboard.trajectory.trajectory import trajectory
from labkit.experiments.dashboard.trajectory.which import trajectories

from loaders import per_run

listing = per_run(trajectories)
shown = per_run(trajectory)
