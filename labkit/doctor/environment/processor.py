"""Can this machine's processor run an engine, and be timed by it?"""

from __future__ import annotations

from labkit.doctor.facts import Facts
from labkit.doctor.records import Check, Status

BUSY_CORES = 0.25
"""From here on other processes show in the times of an engine: what a run notes of itself is warned of before it."""
_TWO = 2
_FINE_CLOCK_S, _USABLE_CLOCK_S = 1e-5, 1e-3
"""Chunks are tens of milliseconds apart: a clock of 10 us is exact enough, one of 1 ms blurs the gaps."""
_SLOW_SOURCES = ("hpet", "acpi_pm", "jiffies")


def cores(facts: Facts) -> Check:
    """CPUs that this process may use: affinity and quota."""
    processor = facts.processor
    usable, quota = len(processor.usable), processor.quota
    have = min(usable, quota) if quota else usable
    found = f"{usable} of {processor.threads} CPUs" + (f", a quota of {quota:g} cores" if quota else "")
    status: Status = "ok" if have >= _TWO else "warn"
    if quota and quota < usable:
        status = "warn"
    return Check(
        name="Cores",
        area="environment",
        status=status,
        found=found + (f" ({processor.model})" if processor.model else ""),
        why="An engine starts a thread per CPU that it may use; below a quota these threads stop each other, and "
        "a split needs a core for each side.",
        todo="" if status == "ok" else "Give it two cores or more, and bind it to them rather than cap its time.",
        command="" if status == "ok" or not quota else "docker run --cpuset-cpus 0,1 ...",
    )


def instructions(facts: Facts) -> Check:
    """What the CPU engine's kernels are compiled for."""
    flags = facts.processor.flags
    needed = facts.profile.engine.command == "python"
    status: Status = "unknown" if flags is None else "ok" if "avx2" in flags or not needed else "fail"
    return Check(
        name="Instructions",
        area="environment",
        status=status,
        found=", ".join(flags) if flags else "none told" if flags is None else "none of those that matter",
        why="vLLM's CPU kernels need AVX2; AVX-512 and AMX make prefill faster.",
        todo="Run the engine on a processor with AVX2." if status == "fail" else "",
    )


def governor(facts: Facts) -> Check:
    """How the clock speed of the cores is chosen."""
    seen = facts.processor.governors
    slow = bool(seen) and any(name != "performance" for name in seen or ())
    status: Status = "unknown" if not seen else "warn" if slow else "ok"
    return Check(
        name="CPU governor",
        area="environment",
        status=status,
        found=", ".join(seen) if seen else "not told here, as in most virtual machines",
        why="Under `powersave` or `schedutil` a core is slow when a request comes: the first token may come late.",
        todo="Set it to performance while you measure." if status == "warn" else "",
        command="sudo cpupower frequency-set -g performance" if status == "warn" else "",
    )


def others(facts: Facts) -> Check:
    """What else keeps cores busy now."""
    load = facts.load
    if load.cores is None:
        status: Status = "unknown"
    else:
        status = "warn" if load.cores >= BUSY_CORES else "ok"
    return Check(
        name="Other processes",
        area="environment",
        status=status,
        found=_busy_words(facts),
        why="On a small machine whatever else runs takes time from the engine, and looks like a slow layer.",
        todo="End it, or wait, before you measure. An engine that is asked for nothing should be idle."
        if status == "warn"
        else "",
        command="labkit ps" if status == "warn" and any(each.engine for each in load.busiest) else "",
    )


def _busy_words(facts: Facts) -> str:
    load = facts.load
    if load.cores is None:
        return "cannot be told"
    who = [f"{each.engine or each.name} (pid {each.pid}) {each.cores:.1f}" for each in load.busiest]
    rest = load.cores - sum(each.cores for each in load.busiest)
    if rest >= BUSY_CORES:
        who.append(f"{rest:.1f} by processes that began or ended meanwhile, or that took less each")
    words = f"{load.cores:.1f} cores busy over {load.window_s:.1f} s"
    return f"{words}: {', '.join(who)}" if who else words


def clock(facts: Facts) -> Check:
    """The one clock that every duration is measured by."""
    known = facts.clock
    step = max(known.resolution_s, known.step_s)
    slow = known.source in _SLOW_SOURCES
    status: Status = "ok" if step <= _FINE_CLOCK_S and not slow else "warn"
    if not known.monotonic or step > _USABLE_CLOCK_S:
        status = "fail"
    source = f", counted by {known.source}" if known.source else ""
    return Check(
        name="Clock",
        area="environment",
        status=status,
        found=f"monotonic, steps of {_small(step)}{source}" if known.monotonic else "not monotonic",
        why="Every time in a run is a difference of two readings of this clock.",
        todo="" if status == "ok" else "Choose tsc as the clock source, or run on another machine.",
        command="" if status == "ok" else "cat /sys/devices/system/clocksource/clocksource0/available_clocksource",
    )


def _small(seconds: float) -> str:
    return f"{seconds * 1e9:.0f} ns" if seconds < 1e-6 else f"{seconds * 1e6:.0f} us"


def threads(facts: Facts) -> Check:
    """The thread settings that the plans give to their engines, and those of this shell that they do not get."""
    wrong = {role: (said, n) for role, (said, n) in facts.planned_threads.items() if said != str(n)}
    guesses = "ngram" in facts.profile.layers.speculation.methods and bool(facts.planned_threads)
    status: Status = "warn" if wrong and guesses else "ok"
    words = [f"NUMBA_NUM_THREADS={said or 'unset'} with {n} cores in {role}" for role, (said, n) in wrong.items()]
    planned = {said for said, _ in facts.planned_threads.values()}
    fine = f"NUMBA_NUM_THREADS={planned.pop()} in every engine" if len(planned) == 1 and not wrong else "as planned"
    if not facts.planned_threads:
        fine = "the profile binds no cores"
    shell = f"; kept out of the engines: {', '.join(facts.steering)}" if facts.steering else ""
    return Check(
        name="Threads",
        area="environment",
        status=status,
        found=("; ".join(words) if status == "warn" else fine) + shell,
        why="vLLM's n-gram drafter makes the whole engine single-threaded unless NUMBA_NUM_THREADS is the number of "
        "its cores: speculation would be blamed for it.",
        todo='Set NUMBA_NUM_THREADS = "{cores}" under [engine.env] of the profile.' if status == "warn" else "",
        command=f"labkit plan --profile {facts.profile.name} --arm spec" if status == "warn" else "",
    )
