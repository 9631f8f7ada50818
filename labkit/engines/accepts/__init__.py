"""Does the engine that is installed here take this line? Asked of vLLM itself, in a process of its own.

    asked = Question(id="old", kind="flags", text="--speculative-model X", given={"argv": [...]})
    told = ask([asked], python=sys.executable)
    told.of("old").status, told.of("old").said

labkit imports no engine: a script is run by the Python that has it, and every question of a call goes to that one
process, since vLLM's import takes ten seconds. What was answered once is not asked again while this process lives.
"""

from labkit.engines.accepts.asking import ask
from labkit.engines.accepts.interpreter import engine_python
from labkit.engines.accepts.records import Answer, Answers, Question

__all__ = ["Answer", "Answers", "Question", "ask", "engine_python"]
