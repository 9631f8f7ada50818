"""SGLang in the place of vLLM: its command lines, its router, its own rules, and what its parser says to a plan.

layout.py   a profile and an arm as processes (engines.layout hands profiles with `command = "sglang"` over)
flags.py    flags as data to SGLang's command line, which has no `--no-` forms
rules.py    what SGLang itself refuses, said before anything starts
router.py   smg, SGLang's router, in front of replicas, or of prefill and decode
accepts.py  SGLang's own parser and checks, asked in the Python that has it
"""
