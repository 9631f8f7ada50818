"""What amdsmi's refusals mean, in words that name the next step."""

from __future__ import annotations

_PERMISSION = (
    "permission denied: the user has to be in the groups `video` and `render`, and a container needs "
    "--device /dev/kfd --device /dev/dri"
)
_UNSUPPORTED = "not supported by this GPU or this driver"
_CODES = {
    2: _UNSUPPORTED,
    3: _UNSUPPORTED,
    10: _PERMISSION,
    34: "the driver amdgpu is not loaded (see `lsmod` and `dmesg`)",
}
_BROKEN_TABLE = (2, 41, 42, 43)
_SAME_ROCM = "amdsmi and the driver have to be of the same ROCm: prefer the amdsmi of the ROCm image (/opt/rocm)"
NOTHING_TOLD = f"the driver tells every metric as N/A: {_SAME_ROCM}"
NOT_TOLD = "the driver tells N/A"
NO_ACCUMULATOR = (
    "the driver's table has no accumulator of activity, or no firmware clock; its gauge flickers and is not read"
)


def words(error: Exception) -> str:
    """One line for what a call raised."""
    code = getattr(error, "err_code", None)
    lines = [line.strip() for line in str(error).splitlines() if line.strip() and line.strip() != "Error code:"]
    said = " ".join(lines) or type(error).__name__
    return f"{_CODES[code]} ({said})" if code in _CODES else said


def table_words(error: Exception) -> str:
    """Of the table of metrics, whose version has to be one that the library knows."""
    if getattr(error, "err_code", None) in _BROKEN_TABLE:
        return f"the library cannot read this driver's table of metrics; {_SAME_ROCM} ({words(error)})"
    return words(error)


def import_words(error: Exception) -> str:
    """Of a package that does not load: without the library it raises KeyError, with an older one AttributeError.

    The lab's own environment makes an ImportError of the first, whose cause it is.
    """
    if isinstance(error, KeyError) or isinstance(error.__cause__, KeyError):
        return "its library libamd_smi.so was not found: it comes with ROCm (/opt/rocm/lib, or ROCM_PATH)"
    if isinstance(error, AttributeError):
        return f"its library libamd_smi.so is of another version than the package amdsmi: {error}; {_SAME_ROCM}"
    return f"its library does not load: {words(error)}"
