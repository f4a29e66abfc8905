"""docs/kubernetes: its manifests name what exists, and the commands of its pods run here as processes."""

import base64
import os
import re
import shutil
import subprocess
import sys
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path
from typing import Any

import prefect.settings
import pytest
import requests
import yaml

from tests.end_to_end.prefect_api import signed_in
from tests.end_to_end.test_serve import postgresql
from tests.flows.command_line import understood
from tests.patience import PATIENCE, running, wait_until
from tests.storage.object_store import CREDENTIALS, free_port, object_store, uri

PROJECT = Path(__file__).parents[2]
MANIFESTS = PROJECT / "docs" / "kubernetes"
AUTH = "admin:long-enough"
SECRETS = {
    "POSTGRES_PASSWORD": "hush",
    "AUTH": AUTH,
    **{name: CREDENTIALS[name] for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY")},
}
Manifest = dict[str, Any]


@pytest.fixture(scope="module")
def rendered(tmp_path_factory: pytest.TempPathFactory) -> str:
    """All manifests, as kustomize gives them to the cluster."""
    kubectl = shutil.which("kubectl")
    if kubectl is None:
        pytest.skip("needs kubectl, whose `kubectl kustomize` renders the manifests")
    folder = tmp_path_factory.mktemp("kubernetes") / "manifests"
    shutil.copytree(MANIFESTS, folder)
    listed = (folder / "kustomization.yaml").read_text()
    (folder / "kustomization.yaml").write_text(listed.replace("page.yaml]", "page.yaml, dask.yaml]", 1))
    (folder / "secrets.env").write_text("".join(f"{name}={value}\n" for name, value in SECRETS.items()))
    return subprocess.run([kubectl, "kustomize", str(folder)], capture_output=True, text=True, check=True).stdout


@pytest.fixture(scope="module")
def manifests(rendered: str) -> list[Manifest]:
    return list(yaml.safe_load_all(rendered))


def named(manifests: list[Manifest], kind: str) -> dict[str, Manifest]:
    return {one["metadata"]["name"]: one for one in manifests if one["kind"] == kind}


def pods(manifests: list[Manifest]) -> dict[str, Manifest]:
    return {
        name: one["spec"]["template"]
        for kind in ("Deployment", "StatefulSet")
        for name, one in named(manifests, kind).items()
    }


def containers(manifests: list[Manifest]) -> dict[str, Manifest]:
    """Containers by name, each of which only one pod has."""
    specs = [pod["spec"] for pod in pods(manifests).values()]
    return {one["name"]: one for spec in specs for one in (*spec.get("initContainers", ()), *spec["containers"])}


def environment(container: Manifest, manifests: list[Manifest]) -> dict[str, str]:
    """The variables of a container, as Kubernetes makes them; KeyError for what is not there."""
    found: dict[str, str] = {}
    for source in container.get("envFrom", ()):
        found |= named(manifests, "ConfigMap")[source["configMapRef"]["name"]]["data"]
    for variable in container.get("env", ()):
        if "value" in variable:
            found[variable["name"]] = expand(variable["value"], found)
        else:
            key = variable["valueFrom"]["secretKeyRef"]
            encoded = named(manifests, "Secret")[key["name"]]["data"][key["key"]]
            found[variable["name"]] = base64.b64decode(encoded).decode()
    return found


def expand(text: str, variables: dict[str, str]) -> str:
    return re.sub(r"\$\((\w+)\)", lambda match: variables[match[1]], text)


def test_the_schemas_of_kubernetes_accept_every_manifest(manifests: list[Manifest]) -> None:
    kubernetes_validate = pytest.importorskip("kubernetes_validate", reason="its schemas are 108 MB: not in the lock")
    for manifest in manifests:
        kubernetes_validate.validate(manifest, "1.31", strict=True)


def test_manifests_name_what_exists(manifests: list[Manifest]) -> None:
    made = pods(manifests)
    assert made.keys() == {"postgres", "server", "worker", "page", "scheduler", "dask-worker"}
    for workload in (*named(manifests, "Deployment").values(), *named(manifests, "StatefulSet").values()):
        assert workload["spec"]["selector"]["matchLabels"] == workload["spec"]["template"]["metadata"]["labels"]
    services = named(manifests, "Service")
    for name, service in services.items():
        assert service["spec"]["selector"] == made[name]["metadata"]["labels"]
        opened = [one["containerPort"] for part in made[name]["spec"]["containers"] for one in part["ports"]]
        assert [one["port"] for one in service["spec"]["ports"]] == opened
    everything = {name: environment(one, manifests) for name, one in containers(manifests).items()}
    values = "/ ".join(value for one in everything.values() for value in one.values())
    called = re.findall(r"(?:@|//)(\w+):(\d+)/", values + "/ ".join(containers(manifests)["dask-worker"]["command"]))
    assert set(called) == {("postgres", "5432"), ("server", "4200"), ("scheduler", "8786")}
    assert {(name, str(one["spec"]["ports"][0]["port"])) for name, one in services.items()} >= set(called)
    for name, workload in [*named(manifests, "StatefulSet").items(), *named(manifests, "Deployment").items()]:
        spec = workload["spec"]["template"]["spec"]
        claims = [one["metadata"]["name"] for one in workload["spec"].get("volumeClaimTemplates", ())]
        volumes = {*claims, *(one["name"] for one in spec.get("volumes", ()))}
        parts = (*spec.get("initContainers", ()), *spec["containers"])
        assert {one["name"] for part in parts for one in part.get("volumeMounts", ())} == volumes, name


def test_only_pods_that_need_another_reach_it(manifests: list[Manifest]) -> None:
    policies = named(manifests, "NetworkPolicy")
    nobody = policies.pop("nobody")["spec"]
    assert nobody == {"podSelector": {}, "policyTypes": ["Ingress"]}
    reached = {}
    for name, policy in policies.items():
        assert policy["spec"]["podSelector"]["matchLabels"] == pods(manifests)[name]["metadata"]["labels"]
        (rule,) = policy["spec"]["ingress"]
        senders = {one["podSelector"]["matchLabels"]["app"] for one in rule["from"]}
        assert senders <= pods(manifests).keys()
        reached[name] = (senders, [one["port"] for one in rule.get("ports", ())])
    assert reached == {
        "postgres": ({"server"}, [5432]),
        "server": ({"worker", "dask-worker"}, [4200]),
        "scheduler": ({"worker", "dask-worker"}, [8786]),
        "dask-worker": ({"scheduler", "dask-worker"}, []),
    }


def test_no_pod_has_rights_that_it_does_not_need(manifests: list[Manifest]) -> None:
    for name, pod in pods(manifests).items():
        spec, user = pod["spec"], 999 if name == "postgres" else 1000
        assert spec["securityContext"] == {
            "runAsNonRoot": True,
            "runAsUser": user,
            "runAsGroup": user,
            "fsGroup": user,
            "seccompProfile": {"type": "RuntimeDefault"},
        }, name
        assert spec["automountServiceAccountToken"] is False, name
        for part in (*spec.get("initContainers", ()), *spec["containers"]):
            none = {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}}
            assert part["securityContext"] == {**none, "readOnlyRootFilesystem": True}, part["name"]
            assert "/tmp" in [mount["mountPath"] for mount in part["volumeMounts"]], part["name"]
            if part["image"].startswith("wikisum"):  # Prefect and others write there
                assert environment(part, manifests)["HOME"] == "/tmp", part["name"]
    assert "useradd --create-home --uid 1000" in (PROJECT / "Dockerfile").read_text()


def test_settings_are_settings_that_exist(manifests: list[Manifest]) -> None:
    for name, container in containers(manifests).items():
        if container["image"].startswith("wikisum"):
            ours = environment(container, manifests).keys() - {*CREDENTIALS, "HOME", "ROOT", "POSTGRES_PASSWORD"}
            assert [one for one in ours if not hasattr(prefect.settings, one)] == [], name


@pytest.mark.integration
def test_commands_of_the_image_are_understood(manifests: list[Manifest]) -> None:
    ours = {name: one for name, one in containers(manifests).items() if one["image"].startswith("wikisum")}
    assert ours.keys() == {"server", "deployments", "worker", "page", "scheduler", "dask-worker"}
    program, *words = [expand(one, environment(ours["page"], manifests)) for one in ours["page"]["command"]]
    assert program == "wikisum"
    arguments = understood(*words).arguments
    assert (arguments["serve"], arguments["model"], arguments["port"]) == (True, "s3://bucket/wikisum", 4300)
    assert understood(*ours["deployments"]["args"][0].splitlines()[-1].split()[1:]).arguments == {}
    for name in ("server", "worker", "scheduler", "dask-worker"):
        program, *words = ours[name]["command"]
        assert program in ("prefect", "dask")
        begin = [word for word in words if not word.startswith(("-", "tcp:"))]
        said = subprocess.run(
            [sys.executable, "-m", program, *begin, "--help"], capture_output=True, text=True, check=True
        ).stdout
        assert all(word.split("=")[0] in said for word in words if word.startswith("-")), name


@pytest.mark.slow
@pytest.mark.integration
def test_the_pods_build_a_corpus_together(rendered: str, tmp_path: Path) -> None:
    """The commands of the pods as processes, by the addresses of this machine; no image and no cluster."""
    with ExitStack() as stack:
        database, store = stack.enter_context(postgresql()), stack.enter_context(object_store())
        server, page, root = free_port(), free_port(), uri(store, "data")
        here = {
            "prefect:$(POSTGRES_PASSWORD)@postgres:5432/prefect": database.removeprefix("postgresql://"),
            "http://server:4200": f"http://127.0.0.1:{server}",
            "--port=4200": f"--port={server}",
            "--port=4300": f"--port={page}",
            "--host=0.0.0.0": "--host=127.0.0.1",
            "s3://bucket/wikisum": root,
            "/tmp/": f"{tmp_path}/",  # first, because the project may lie below it
            "/app/": f"{PROJECT}/",
        }
        text = rendered
        for there, instead in here.items():
            assert there in text, there
            text = text.replace(there, instead)
        manifests = list(yaml.safe_load_all(text))
        started = {one: Pod(one, manifests, tmp_path) for one in ("server", "deployments", "worker", "page")}
        stack.enter_context(started["server"].running())
        api, auth = f"http://127.0.0.1:{server}/api", tuple(AUTH.split(":"))
        wait_until(lambda: answers(f"{api}/health"), "the server", started["server"].said)
        asked = signed_in(api, AUTH)
        assert requests.get(f"{api}/version", timeout=PATIENCE).status_code == 401
        with started["deployments"].running() as process:
            assert process.wait(PATIENCE) == 0, started["deployments"].said()
        deployed = asked.post(f"{api}/deployments/filter", json={}, timeout=PATIENCE).json()
        corpus = next(one for one in deployed if one["name"] == "build-corpus")
        assert corpus["parameters"]["config"]["root"] == root
        assert asked.post(f"{api}/automations/filter", json={}, timeout=PATIENCE).json()
        stack.enter_context(started["worker"].running())
        config = {
            "root": root,
            "preset": "miniweb",
            "source.miniweb.topics": 12,
            "settings": {"engine.kind": "threads"},
        }
        made = asked.post(
            f"{api}/deployments/{corpus['id']}/create_flow_run",
            json={"parameters": {"config": config}, "state": {"type": "SCHEDULED"}},
            timeout=PATIENCE,
        )
        made.raise_for_status()
        run = f"{api}/flow_runs/{made.json()['id']}"

        def state() -> str:
            return str(requests.get(run, timeout=PATIENCE, auth=auth).json()["state_type"])

        wait_until(lambda: state() in ("COMPLETED", "FAILED", "CRASHED"), "the run", started["worker"].said)
        assert state() == "COMPLETED", started["worker"].said()[-6000:]
        process = stack.enter_context(started["page"].running())
        shown = f"http://127.0.0.1:{page}/"
        wait_until(lambda: process.poll() is not None or answers(shown), "the page", started["page"].said)
        assert process.poll() is None, started["page"].said()
        assert requests.get(f"http://127.0.0.1:{page}/", timeout=PATIENCE, auth=auth).ok


def answers(url: str) -> bool:
    try:
        return requests.get(url, timeout=PATIENCE).status_code in (200, 401)
    except requests.ConnectionError:
        return False


class Pod:
    """A container of the image as a process, in an empty folder, with the variables of its manifest."""

    def __init__(self, name: str, manifests: list[Manifest], folder: Path) -> None:
        container = containers(manifests)[name]
        variables = environment(container, manifests)
        words = (*container["command"], *container.get("args", ()))
        self.command = [expand(word, variables) for word in words]
        self.folder = folder / name
        self.folder.mkdir()
        bin_ = Path(sys.executable).parent
        inherited = {name: os.environ[name] for name in ("LANG", "HOME") if name in os.environ}
        self.environment = {
            **inherited,
            "PATH": f"{bin_}:/usr/local/bin:/usr/bin:/bin",
            "PYTHONPATH": str(PROJECT),
            "PREFECT_HOME": str(self.folder / "home"),
            "AWS_DEFAULT_REGION": "us-east-1",
            "AWS_EC2_METADATA_DISABLED": "true",
            **variables,
        }

    def said(self) -> str:
        return (self.folder / "log").read_text(errors="replace")

    def running(self) -> AbstractContextManager["subprocess.Popen[bytes]"]:
        """The process; it has ended when the block does."""
        return running(self.command, self.folder / "log", self.folder, self.environment)
