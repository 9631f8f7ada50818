"""The options that `labkit run quick` and `labkit replay` share: one name, one meaning, one help text."""

from __future__ import annotations

from typing import Annotated

import typer

Profile = Annotated[
    str, typer.Option(help="Machine, model and engine: a name of `labkit plan --profiles`, or a TOML file.")
]
Recordings = Annotated[str, typer.Option(help="Names of `labkit recordings`, or .jsonl files, with commas between.")]
Repeats = Annotated[int, typer.Option(min=1, help="How often each arm, or drafter, is measured.")]
Told = "Whose text goes into the next turn: the recorded, or the engine's own (live)."
Steps = Annotated[int | None, typer.Option(min=1, help="Only the first so many steps of the recording.")]
Arms = Annotated[str, typer.Option(help="Labels with commas between: base, prefix, pd, spec, prefix+spec, ..., all.")]
SpecMethod = Annotated[str | None, typer.Option(help="Drafter of the arms with speculation; default: the profile's.")]
Strict = Annotated[
    bool,
    typer.Option(
        "--strict", help="Switch prefix caching by the server's flag, not by a cache salt: more engine starts."
    ),
]
Keep = Annotated[bool, typer.Option("--keep", help="Leave the last engine up when the run went well.")]
Seed = Annotated[int | None, typer.Option(help="Block-randomised order from this seed; default: the fixed order.")]
Json = Annotated[bool, typer.Option("--json", help="Print one line of JSON on stdout; everything else on stderr.")]
Job = Annotated[str | None, typer.Option(hidden=True, help="Set by labkit.experiments.jobs.")]
Attach = Annotated[
    list[str] | None,
    typer.Option(hidden=True, help="ARM=URL: measure an engine that runs already. Also model=NAME, block_size=N."),
]
