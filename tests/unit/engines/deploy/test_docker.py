"""The `docker run` commands, read back as a shell reads them, are the plan: nothing lost, nothing added."""

from __future__ import annotations

import shlex
import subprocess

import pytest
from unit.engines.deploy.deployed import EVERY, SPLIT, planned, text_of, with_engine, with_secrets

from labkit.core.errors import LabError
from labkit.core.masking import MASK
from labkit.engines.deploy import FORMS, deploy_files

WITH_VALUE = {"--name", "--network", "--ipc", "--pid", "--device", "--group-add", "--cap-add", "--security-opt"} | {
    "--ulimit", "--gpus", "--env", "--volume", "--entrypoint"
}  # fmt: skip


class Run:
    """One `docker run` as Docker reads it."""

    def __init__(self, command: str) -> None:
        words = shlex.split(command)
        assert words[:3] == ["docker", "run", "--detach"]
        self.options: dict[str, list[str]] = {}
        at = 3
        while words[at].startswith("--"):
            assert words[at] in WITH_VALUE, words[at]
            self.options.setdefault(words[at], []).append(words[at + 1])
            at += 2
        self.image = words[at]
        self.argv = [*self.options["--entrypoint"], *words[at + 1 :]]
        self.role = self.options["--name"][0].rsplit("-", 1)[-1]

    @property
    def env(self) -> dict[str, str]:
        return dict(entry.split("=", 1) for entry in self.options.get("--env", []) if "=" in entry)

    @property
    def named(self) -> list[str]:
        return [entry for entry in self.options.get("--env", []) if "=" not in entry]


def runs(text: str) -> list[Run]:
    joined = text.replace("\\\n", " ")
    return [Run(line) for line in joined.splitlines() if line and not line.startswith("#")]


@pytest.mark.parametrize(("name", "arm"), EVERY)
def test_each_command_is_the_process_of_the_plan(name: str, arm: str) -> None:
    profile, plan = planned(name, arm)
    read = runs(text_of(name, arm, "docker"))
    processes = [*plan.processes]
    if plan.router_first:
        processes = [processes[-1], *processes[:-1]]
    assert [(run.argv, run.env) for run in read] == [(list(one.argv), one.env) for one in processes]
    assert [run.named for run in read] == [[] if one.role == "router" else ["HF_TOKEN"] for one in processes]
    for run in read:
        gpus = {"amd": "--device", "nvidia": "--gpus"}[profile.machine.vendor]
        assert (gpus in run.options) == (run.role != "router")
        assert run.options["--network"] == run.options["--ipc"] == ["host"]
        assert ("--pid" in run.options) == (plan.arm in ("pd", "prefix+pd", "pd+spec", "all"))


def test_amds_devices_are_handed_in_whole_and_the_environment_chooses() -> None:
    _, prefill, decode = runs(text_of(SPLIT, "pd", "docker"))
    assert prefill.options["--device"] == ["/dev/kfd", "/dev/dri"]
    assert (prefill.options["--group-add"], prefill.options["--cap-add"]) == (["video"], ["SYS_PTRACE"])
    assert prefill.options["--security-opt"] == ["seccomp=unconfined"]
    assert prefill.options["--ulimit"] == ["memlock=-1"]
    assert decode.env["HIP_VISIBLE_DEVICES"] == decode.env["CUDA_VISIBLE_DEVICES"] == "4,5,6,7"
    assert "~/.cache/huggingface:/root/.cache/huggingface" in prefill.options["--volume"]


def test_rdma_is_handed_its_cards() -> None:
    _, prefill, _ = runs(text_of(f"{SPLIT}+rdma", "pd", "docker"))
    assert prefill.options["--device"] == ["/dev/kfd", "/dev/dri", "/dev/infiniband"]


def test_nvidias_runtime_hands_in_the_plans_gpus_and_counts_them_from_0() -> None:
    profile = with_engine("h200-1-qwen3-8b", gpus=((2,), (5,)))
    prefill, decode, _ = runs(text_of(profile, "pd", "docker"))
    assert prefill.options["--gpus"] == decode.options["--gpus"] == ['"device=2,5"']
    assert (prefill.env["CUDA_VISIBLE_DEVICES"], decode.env["CUDA_VISIBLE_DEVICES"]) == ("0", "1")


def test_images_by_tag_are_said_and_a_digest_is_not() -> None:
    said = text_of(SPLIT, "base", "docker")
    assert "vllm/vllm-openai-rocm:v0.32.0" in said.split("docker run")[0]
    assert "RepoDigests" in said
    profile, plan = planned("mi300x-1-qwen3-8b", "base")
    image = "vllm/vllm-openai-rocm@sha256:" + "0" * 64
    pinned = profile.model_copy(update={"machine": profile.machine.model_copy(update={"image": image})})
    assert "RepoDigests" not in deploy_files(pinned, plan, "docker")[0].text


@pytest.mark.parametrize("form", ["docker", "compose", "k8s"])
def test_the_head_says_which_router_was_proven_and_what_an_image_must_be_given(form: str) -> None:
    own, split = text_of(SPLIT, "base", form), text_of(f"{SPLIT}-sglang", "pd", form)
    assert "proven is vllm-router 0.1.17; the version in vllm/vllm-router:nightly may differ." in own
    assert "pip install" not in own
    assert "proven is smg 1.13.0, and the engine's image is not said to have it" in split
    assert "#   FROM lmsysorg/sglang" in split
    assert "#   RUN python3 -m pip install smg==1.13.0" in split
    assert "proven is" not in text_of("mi300x-1-qwen3-8b", "base", form)  # no router
    assert ("health checks run python3" in own) == (form == "compose")


@pytest.mark.parametrize("name", [SPLIT, f"{SPLIT}-sglang"])
def test_the_routers_image_is_the_profiles_where_it_names_one(name: str) -> None:
    profile, _ = planned(name, "pd")
    mine = profile.model_copy(update={"machine": profile.machine.model_copy(update={"router_image": "mine:1"})})
    text = text_of(mine, "pd", "docker")
    assert {run.image for run in runs(text) if run.role == "router"} == {"mine:1"}
    assert {run.image for run in runs(text) if run.role != "router"} == {profile.machine.image}
    assert "the version in mine:1 may differ." in text


def test_the_script_is_one_that_bash_reads() -> None:
    subprocess.run(["bash", "-n"], input=text_of(SPLIT, "all", "docker"), text=True, check=True)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("arm", ["base", "pd"])
def test_no_form_tells_a_secret(form: str, arm: str) -> None:
    text = text_of(with_secrets(SPLIT, "hunter2x9"), arm, form)
    assert "hunter2x9" not in text
    assert MASK in text
    assert form == "shell" or f"Put the secrets in where `{MASK}` stands." in text
    assert form == "shell" or "MY_API_KEY" in text


@pytest.mark.parametrize("form", ["docker", "compose", "k8s"])
def test_a_profile_without_an_image_is_sent_elsewhere(form: str) -> None:
    with pytest.raises(LabError, match="no container image") as refused:
        text_of("cpu-smollm2", "base", form)
    assert "--as shell" in refused.value.hint


def test_the_cpu_profile_in_an_image_has_the_images_python_and_its_weights() -> None:
    profile, _ = planned("cpu-smollm2", "pd")
    imaged = profile.model_copy(update={"machine": profile.machine.model_copy(update={"image": "mine@sha256:1"})})
    prefill, _, router = runs(text_of(imaged, "pd", "docker"))
    assert prefill.argv[:3] == ["python3", "-m", "labkit_vllm_cpu.serve"]
    assert router.argv[:3] == ["python3", "-m", "vllm_router.launch_router"]
    assert (prefill.image, router.image) == ("mine@sha256:1", "mine@sha256:1")
    model = prefill.argv[prefill.argv.index("--model") + 1]
    assert f"{model}:{model}:ro" in prefill.options["--volume"]
