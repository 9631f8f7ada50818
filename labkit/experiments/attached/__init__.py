"""Engines that run already, whoever started them: what is asked of them, what they tell, and which arms they serve.

endpoints  `--endpoint`, `--metrics` and what goes with them, parsed
probe      what one engine tells (engines.attach) and what its counters can (telemetry): an AttachedEngine
placing    which arm it is in
alike      whether several of them may be compared, and what differs between them
unread     which columns stay null, and why
refusing   what to do for an arm that none of them can serve
kept       what run.json keeps of it, and the options that attach the same engines again
same_model whether a named profile is of their model
provider   AttachedProvider: all of it as a run's EngineProvider
"""
