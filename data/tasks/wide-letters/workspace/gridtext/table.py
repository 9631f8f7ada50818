"""Tables: a header, rows of any values, columns as wide as their widest cell."""

from gridtext.style import PLAIN
from gridtext.width import cells, clip, pad


class Table:
    """Columns by name. Numbers stand at the right, everything else at the left; `None` is drawn as a dash."""

    def __init__(self, *columns, style=PLAIN, limit=None):
        if not columns:
            raise ValueError("a table needs at least one column")
        self.columns = columns
        self.style = style
        self.limit = limit
        self._rows = []

    def add(self, *values):
        """Add a row; it must have one value for each column."""
        if len(values) != len(self.columns):
            raise ValueError(f"{len(values)} values for {len(self.columns)} columns")
        self._rows.append(values)
        return self

    def draw(self):
        """The table as text."""
        texts = [[self._text(value) for value in row] for row in self._rows]
        header = [self._short(name) for name in self.columns]
        widths = [max(cells(row[n]) for row in [header, *texts]) for n in range(len(header))]
        lines = [self.style.line([pad(name, width) for name, width in zip(header, widths)])]
        rule = self.style.under(widths)
        if rule is not None:
            lines.append(rule)
        for values, row in zip(self._rows, texts):
            parts = [pad(text, width, _side(value)) for value, text, width in zip(values, row, widths)]
            lines.append(self.style.line(parts))
        return "\n".join(lines)

    def _text(self, value):
        if value is None:
            return "-"
        if isinstance(value, float):
            return f"{value:.2f}"
        return self._short(str(value))

    def _short(self, text):
        return clip(text, self.limit) if self.limit else text


def _side(value):
    return "right" if isinstance(value, (int, float)) else "left"
