"""What a recording promises, drawn: tokens where they were counted, characters else, and nothing that was measured."""

import pandas as pd
import pytest

from labkit.plots.promised import promised_figure, promised_info
from labkit.plots.theme import MODES

TURNS = pd.DataFrame(
    {
        "turn": [1, 2],
        "prompt_tokens": [100, 150],
        "repeated_tokens": [0, 96],
        "output_tokens": [20, 10],
        "prompt_chars": [400, 600],
        "repeated_chars": [0, 480],
        "output_chars": [80, 40],
    }
)


def test_the_parts_of_a_prompt_add_up_and_the_reply_stands_on_them():
    info = promised_info(TURNS, "mine")
    assert info.unit == "tokens"
    assert info.parts == {"cached": (0, 96), "computed": (100, 54), "generated": (20, 10)}
    assert "38% of 250 prompt tokens repeat; 2 steps" in info.caption.note
    assert "nothing was measured" in info.caption.note
    assert "mine" in info.caption.title
    assert "38%" in info.caption.alt


@pytest.mark.parametrize("column", ["prompt_tokens", "repeated_tokens", "output_tokens"])
def test_one_unknown_count_makes_it_characters(column: str):
    turns = TURNS.assign(**{column: pd.array([100, None], dtype="Int64")})
    info = promised_info(turns, "mine")
    assert info.unit == "characters"
    assert info.parts["computed"] == (400, 120)


@pytest.mark.parametrize("mode", MODES)
def test_it_is_drawn_in_both_modes(mode):
    figure = promised_figure(promised_info(TURNS, "mine"), mode)
    assert [bar.name for bar in figure.data] == ["repeats", "new", "reply"]
    assert figure.layout.yaxis.title.text == "tokens"


def test_without_a_step_it_says_so():
    info = promised_info(TURNS.head(0), "mine")
    assert info.caption.empty
    assert not promised_figure(info).data
