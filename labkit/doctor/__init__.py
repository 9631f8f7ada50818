"""What is wrong and what to do: checks of this machine, its memory and its prompts, fast, each with a next step.

    from labkit.doctor.examine import examine
    from labkit.doctor.facts import facts
    report = examine(facts("cpu-smollm2"))

`facts` reads the machine; a check only judges what it is given, so that every one of them can be shown its fault.
"""
