"""Tables for the terminal."""

from gridtext.table import Table
from gridtext.width import cells, clip, pad

__all__ = ["Table", "cells", "clip", "pad"]
