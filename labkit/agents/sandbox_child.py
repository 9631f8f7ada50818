"""Runs inside the sandbox: closes the doors one by one, reports which ones closed, then becomes the tests.

Started by path (`python -I sandbox_child.py CONFIG`), so it imports nothing of labkit. Each door that this kernel does
not let us close stays open and is missing from the report; nothing is pretended.
"""

import ctypes
import json
import os
import resource
import signal
import struct
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any, NoReturn

_LIBC = ctypes.CDLL(None, use_errno=True)
_NEW_USER, _NEW_NET, _NEW_PID, _NEW_IPC = 0x10000000, 0x40000000, 0x20000000, 0x08000000
_NO_NEW_PRIVS, _PARENT_DEATH_SIGNAL = 38, 1
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
"""Landlock's system calls; the numbers are the same on every architecture (linux/landlock.h)."""
_EXECUTE, _READ_FILE, _READ_DIR = 1, 1 << 2, 1 << 3
_WRITE_FILE, _TRUNCATE = 1 << 1, 1 << 14
_REMOVE, _MAKE_DIR, _MAKE_FILE, _REFER = (1 << 4) | (1 << 5), 1 << 7, 1 << 8, 1 << 13
_READ = _EXECUTE | _READ_FILE | _READ_DIR
_WRITE = _READ | _WRITE_FILE | _TRUNCATE | _REMOVE | _MAKE_DIR | _MAKE_FILE | _REFER
"""Making links, devices, sockets and pipes is in neither set."""


def main() -> NoReturn:
    config = json.loads(sys.argv[1])
    _LIBC.prctl(_NO_NEW_PRIVS, 1, 0, 0, 0)
    closed = _leave_namespaces()
    _limit(config, own_user="net" in closed)
    closed += _leave_files(config)
    os.write(config["report"], json.dumps(closed).encode())
    os.close(config["report"])
    os.chdir(config["workspace"])
    if "pids" in closed:
        _as_second_process(config)
    _become(config)


def _leave_namespaces() -> list[str]:
    """No network, and own process ids (so that ending the first ends all), where the kernel allows."""
    ids = os.getuid(), os.getgid()
    for flags, names in ((_NEW_NET | _NEW_PID | _NEW_IPC, ["net", "pids"]), (_NEW_NET, ["net"])):
        if _LIBC.unshare(_NEW_USER | flags) == 0:
            _keep_ids(*ids)
            return names
    return []


def _keep_ids(uid: int, gid: int) -> None:
    for name, text in (("setgroups", "deny"), ("uid_map", f"{uid} {uid} 1"), ("gid_map", f"{gid} {gid} 1")):
        with suppress(OSError), Path(f"/proc/self/{name}").open("w") as file:
            file.write(text)


def _limit(config: dict[str, Any], own_user: bool) -> None:
    limits = {
        resource.RLIMIT_CPU: config["cpu_s"],
        resource.RLIMIT_AS: config["memory_bytes"],
        resource.RLIMIT_FSIZE: config["file_bytes"],
        resource.RLIMIT_NOFILE: 256,
        resource.RLIMIT_CORE: 0,
    }
    if own_user:  # elsewhere the count includes everything that this user runs
        limits[resource.RLIMIT_NPROC] = config["processes"]
    for kind, value in limits.items():
        hard = resource.getrlimit(kind)[1]
        most = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(kind, (most, most))


def _leave_files(config: dict[str, Any]) -> list[str]:
    """Landlock: read Python and the system's libraries, write the workspace and the scratch folder, nothing else."""
    version = _LIBC.syscall(_CREATE_RULESET, None, 0, 1)
    if version < 1:
        return []
    handled = (1 << 13) - 1 | (_REFER if version > 1 else 0) | (_TRUNCATE if version > 2 else 0)
    attributes = struct.pack("QQ", handled, 3) if version > 3 else struct.pack("Q", handled)  # 3: TCP bind, connect
    rules = _LIBC.syscall(_CREATE_RULESET, attributes, len(attributes), 0)
    for path in config["readable"]:
        _allow(rules, path, _READ & handled)
    for path in config["writable"]:
        _allow(rules, path, _WRITE & handled)
    return ["files"] if _LIBC.syscall(_RESTRICT_SELF, rules, 0) == 0 else []


def _allow(rules: int, path: str, access: int) -> None:
    with suppress(FileNotFoundError):
        handle = os.open(path, os.O_PATH | os.O_CLOEXEC)
        if not Path(path).is_dir():
            access &= _EXECUTE | _READ_FILE | _WRITE_FILE | _TRUNCATE
        _LIBC.syscall(_ADD_RULE, rules, 1, struct.pack("=Qi", access, handle), 0)
        os.close(handle)


def _as_second_process(config: dict[str, Any]) -> NoReturn:
    """The new namespace's first process only waits: a first process ignores the signals of the limits."""
    first = os.fork()
    if first == 0:
        _LIBC.prctl(_PARENT_DEATH_SIGNAL, signal.SIGKILL, 0, 0, 0)
        second = os.fork()
        if second == 0:
            _become(config)
        _wait_for(second)
    _wait_for(first)


def _wait_for(child: int) -> NoReturn:
    while True:
        pid, status = os.wait()
        if pid == child:
            code = os.waitstatus_to_exitcode(status)
            os._exit(code if code >= 0 else 128 - code)


def _become(config: dict[str, Any]) -> NoReturn:
    os.execve(config["argv"][0], config["argv"], config["env"])


if __name__ == "__main__":
    main()
