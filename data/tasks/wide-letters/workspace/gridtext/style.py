"""The characters that a table is drawn with."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Style:
    """`gap` between columns, `rule` under the header (empty: none), `edge` at both sides of a line."""

    gap: str = "  "
    rule: str = "-"
    edge: str = ""

    def line(self, parts):
        """One line from its cells, without blanks at its end unless an edge follows."""
        text = self.edge + self.gap.join(parts) + self.edge
        return text if self.edge else text.rstrip()

    def under(self, widths):
        """The line under the header, or None."""
        if not self.rule:
            return None
        return self.line([self.rule * width for width in widths])


PLAIN = Style()
BARE = Style(rule="")
BOXED = Style(gap=" | ", rule="-", edge="|")
