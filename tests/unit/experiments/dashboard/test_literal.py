"""Words that are not ours look on a page as they were written; that a browser agrees is in tests/browser."""

from __future__ import annotations

import re

import pytest

from labkit.experiments.dashboard.literal import literal

JOINER = "\N{WORD JOINER}"


@pytest.mark.parametrize(
    ("written", "safe"),
    [
        ("<class 'Foo'> is not [a, b]", r"\<class 'Foo'\> is not \[a, b\]"),
        ("![x](http://host/b.png)", r"\!\[x\](http\://host/b.png)"),
        (":red[hi] 3:4", r"\:red\[hi\] 3\:4"),
        ("$1 and $2, *a* `b` ~c~ |d| #e", r"\$1 and \$2, \*a\* \`b\` \~c\~ \|d\| \#e"),
        (r"C:\new &amp; a & b", r"C:\\new \&amp; a & b"),
        ("_x_ __init__ fp8_e4m3", r"\_x\_ \_\_init\_\_ fp8_e4m3"),
        ("- one\n- two", r"\- one - two"),
        ("1. no list", r"1\. no list"),
        (":material/home: :smile:", f":{JOINER}material/home: :{JOINER}smile:"),
        ("a -> b -- c >= d, --model", rf"a -{JOINER}\> b -{JOINER}- c \>{JOINER}= d, --model"),
        ("run_id: no run is called 'no-such-run'.", "run_id: no run is called 'no-such-run'."),
    ],
)
def test_marks_are_taken_for_what_they_are(written, safe):
    assert literal(written) == safe
    assert re.sub(rf"\\(_|[^\w\s])|{JOINER}", r"\1", safe) == " ".join(written.split())
