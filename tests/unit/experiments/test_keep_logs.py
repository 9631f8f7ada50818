"""Copies of engines' logs: what they said, but for the secrets that they were started with."""

from pathlib import Path

from labkit.experiments.keep_logs import kept_logs
from labkit.experiments.serving import Served


def test_logs_are_copied_without_secrets_and_one_that_is_gone_is_passed_over(tmp_path: Path):
    log, folder = tmp_path / "engine.log", tmp_path / "logs"
    folder.mkdir()
    said = "INFO non-default args: {'api_key': ['hunter2'], 'port': 8000}\nGET Authorization: Bearer hunter2\nready\n"
    log.write_bytes(said.encode() + b"\xff\n")
    logs = {"decode": str(log), "prefill": str(tmp_path / "gone.log")}
    served = Served(engine="e1", base_url="http://127.0.0.1:1", model="m", switched_by="flag", logs=logs)
    with kept_logs(served, folder):
        pass
    (copy,) = folder.iterdir()
    assert copy.name == "e1-decode.log"
    assert copy.read_text().splitlines() == [
        "INFO non-default args: {'api_key': ['(not shown)'], 'port': 8000}",
        "GET Authorization: (not shown)",
        "ready",
        "\ufffd",
    ]
