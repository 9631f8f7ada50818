"""What is in a table, at a glance."""


def summarise(records):
    """For each column: how many values there are, how many are missing, and how many differ.

    Numbers also get their least and greatest value. Columns come in the order of the first record.
    """
    if not records:
        return {}
    return {name: _column([record[name] for record in records]) for name in records[0]}


def _column(values):
    present = [value for value in values if value is not None]
    facts = {"count": len(present), "missing": len(values) - len(present), "distinct": len(set(present))}
    numbers = [value for value in present if isinstance(value, (int, float))]
    if numbers and len(numbers) == len(present):
        facts["least"] = min(numbers)
        facts["greatest"] = max(numbers)
    return facts


def as_lines(summary):
    """The summary as text, one column a line."""
    width = max((len(name) for name in summary), default=0)
    lines = []
    for name, facts in summary.items():
        text = ", ".join(f"{key} {value}" for key, value in facts.items())
        lines.append(f"{name:<{width}}  {text}")
    return lines
