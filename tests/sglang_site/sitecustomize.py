"""Lets SGLang be imported where two packages for GPUs are missing. Python runs this file at its start.

Triton (280 MB, kernels that are compiled on a GPU) and torchvision (its build for CUDA does not load beside a PyTorch
for CPUs) are replaced by SGLang's own stand-ins, which it uses itself where there is no Triton. Nothing of SGLang is
replaced: its parser, the resolution of its arguments and its metrics are the installed package's.
"""

import importlib.util
import sys
from pathlib import Path

_CLASSES = {
    "triton.runtime.jit": ("JITFunction", "KernelInterface"),
    "triton.runtime.autotuner": ("OutOfResources", "PTXASError"),
    "triton.compiler": ("CompiledKernel",),
    "triton.compiler.compiler": ("ASTSource",),
    "triton.backends.compiler": ("GPUTarget",),
}
"""Names that PyTorch imports as classes: the same ones that SGLang's own installer defines."""


def _stand_ins():
    """SGLang's module of stand-ins, by its file: importing it by name would import SGLang."""
    path = next(file for place in sys.path if (file := Path(place) / "sglang" / "_platform_stubs.py").is_file())
    spec = importlib.util.spec_from_file_location("sglang_stand_ins", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


class _Torchvision:
    """Only once SGLang's arguments are there: before, transformers asks whether there is a torchvision."""

    def __init__(self, made):
        self._made = made

    def find_spec(self, fullname, path=None, target=None):
        if fullname.partition(".")[0] != "torchvision" or "sglang.srt.server_args" not in sys.modules:
            return None
        return self._made(fullname).__spec__


def _install(stand_ins):
    made = stand_ins._make_mock
    triton = made("triton")
    triton.__version__, triton.cdiv, triton.Config = "3.0.0", stand_ins._cdiv, stand_ins._Config
    triton.next_power_of_2 = stand_ins._next_power_of_2
    triton.runtime, triton.language = made("triton.runtime"), made("triton.language")
    triton.language.constexpr = type("constexpr", (), {"__init__": lambda self, value=None: None})
    for name, classes in _CLASSES.items():
        module = made(name)
        for each in classes:
            setattr(module, each, type(each, (Exception,) if "Error" in each or "Out" in each else (), {}))
    triton.runtime.jit, triton.runtime.autotuner = (sys.modules[f"triton.runtime.{n}"] for n in ("jit", "autotuner"))
    triton.compiler = sys.modules["triton.compiler"]
    triton.compiler.compiler = sys.modules["triton.compiler.compiler"]
    sys.meta_path.insert(0, stand_ins._TritonFinder())
    sys.meta_path.append(_Torchvision(made))


_install(_stand_ins())
