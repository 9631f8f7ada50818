"""One run over the machines of a Ray cluster: whole repeats go to nodes, rows come back into one run folder.

A layer is compared with its absence on one and the same node, else the node would be taken for the layer. So what is
spread is the complete repeat: all its arms, in their order, on one node, near that node's own engines. The driver keeps
the run folder and is its only writer; nodes send what they measure as it happens, moved onto the run's clock.

units      which blocks belong together
board      who measures what next, and what happens to the repeats of a lost node. Pure
ray_import Ray, or an error with the next step; cluster: connected to; nodes, fitness: its machines
engines    what serves on a node; worker: what runs there; relayed: how its rows travel
offset     one clock from two; conduct: the run, top to bottom, with spreading in its middle
"""
