"""What a release consists of: versions, notes, licences, constraints, distributions."""

from __future__ import annotations

import importlib.util
import re
import tomllib
from importlib.metadata import version
from pathlib import Path
from types import ModuleType
from typing import Any

import click
import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

from nymlink.cli import nymlink

ROOT = Path(__file__).parents[1]
pytestmark = pytest.mark.skipif(not (ROOT / ".ci").is_dir(), reason="the tests stand alone")

NUMBERED_OTHERWISE = {"psutil", "pyarrow", "protobuf", "wcwidth"}


def script(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, ROOT / ".ci" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def project() -> dict[str, Any]:
    parsed = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    return dict(parsed["project"])


def test_notes_citation_and_package_have_one_version(project: dict[str, Any]) -> None:
    notes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    released = re.findall(r"^## (\d+\.\d+\.\d+) \((\d{4}-\d\d-\d\d)\)$", notes, re.MULTILINE)
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    [cited] = re.findall(r"^version: (\S+)\ndate-released: (\S+)$", citation, re.MULTILINE)
    assert released[0] == cited
    assert released[0][0] == project["version"]
    assert released == sorted(released, key=lambda one: Version(one[0]), reverse=True)
    assert set(re.findall(r"^## (\w+)", notes, re.MULTILINE)) <= {"Unreleased", "0"}


def test_the_page_of_the_package_index_links_to_no_file() -> None:
    parsed = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    hook = parsed["tool"]["hatch"]["metadata"]["hooks"]["fancy-pypi-readme"]
    page = (ROOT / "README.md").read_text(encoding="utf-8")
    linked = re.findall(r"\]\(([^)]+)\)", page)
    assert len(linked) > 20
    for each in hook["substitutions"]:
        page, changed = re.subn(each["pattern"], each["replacement"], page)
        assert changed, each
    assert [link for link in re.findall(r"\]\(([^)]+)\)", page) if not link.startswith("https://")] == []
    assert "## Privacy" in page
    assert "More results, and their\ncaveats." in page


def test_lower_bounds_are_versions_that_can_be_tried(project: dict[str, Any]) -> None:
    pins = script("distributions").lowest_versions(project)
    assert pins["numpy"] == "2"
    assert {canonicalize_name(Requirement(each).name) for each in project["dependencies"]} <= set(pins)


def test_what_users_install_has_upper_bounds(project: dict[str, Any]) -> None:
    extras = {
        name: some for name, some in project["optional-dependencies"].items() if name not in ("docs", "bench")
    }
    wanted = [*project["dependencies"], *(one for name, some in extras.items() if name != "dev" for one in some)]
    unbounded = {
        asked.name
        for asked in map(Requirement, wanted)
        if not any(each.operator.startswith("<") for each in asked.specifier)
    }
    assert unbounded == NUMBERED_OTHERWISE


def test_licences_are_listed_and_compatible() -> None:
    licences = script("licences")
    listed = [tuple(line.split(",")) for line in licences.LIST.read_text(encoding="utf-8").splitlines()[1:]]
    assert licences.problems(licences.rows(), listed) == []


def test_a_licence_that_binds_users_is_noticed() -> None:
    found = [("other", "GPL-3.0-only", "core"), ("mine", "MIT OR GPL-2.0-only", "xl"), ("fine", "MIT", "core")]
    said = script("licences").problems(found, found)
    assert said == [
        "other has the licence 'GPL-3.0-only'",
        "mine has the licence 'MIT OR GPL-2.0-only'",
    ]


def test_stray_and_missing_files_of_a_distribution_are_noticed() -> None:
    said = script("distributions").strays({"a.py", ".schemathesis/x"}, {"a.py", "b.py"})
    assert said == [".schemathesis/x is not in the repository", "b.py is missing"]


def test_every_extra_is_tried(project: dict[str, Any]) -> None:
    extras = set(project["optional-dependencies"]) - {"dev", "docs", "bench"}
    assert set(script("distributions").USES) == extras | {""}


def test_the_image_has_a_version_for_all_that_it_installs(project: dict[str, Any]) -> None:
    lines = (ROOT / "deploy" / "constraints.txt").read_text(encoding="utf-8").splitlines()
    pins = {canonicalize_name(name): number for name, _, number in (line.partition("==") for line in lines)}
    assert all(pins.values())
    extras = project["optional-dependencies"]
    for asked in map(Requirement, [*project["dependencies"], *extras["hpo"], *extras["serve"]]):
        assert asked.specifier.contains(pins[canonicalize_name(asked.name)]), asked


def test_the_image_is_of_one_python_and_runs_as_a_user() -> None:
    steps = (ROOT / "deploy" / "Dockerfile").read_text(encoding="utf-8")
    assert re.search(r"^FROM python:\d+\.\d+\.\d+-slim-\w+$", steps, re.MULTILINE)
    assert re.search(r"^USER [1-9]\d*:[1-9]\d*$", steps, re.MULTILINE)
    assert "\nHEALTHCHECK " in steps


def test_pods_run_the_image_of_this_version_as_a_user(project: dict[str, Any]) -> None:
    text = (ROOT / "deploy" / "kubernetes.yaml").read_text(encoding="utf-8")
    deployment, service = yaml.safe_load_all(text)
    spec = deployment["spec"]["template"]["spec"]
    [container] = spec["containers"]
    assert container["image"] == f"nymlink:{project['version']}"
    assert spec["securityContext"]["runAsNonRoot"]
    assert {"startupProbe", "readinessProbe", "livenessProbe"} <= set(container)
    threads = {each["name"]: each["value"] for each in container["env"]}["OMP_NUM_THREADS"]
    assert threads == container["resources"]["limits"]["cpu"]
    assert service["spec"]["selector"] == deployment["spec"]["selector"]["matchLabels"]
    mounted = {each["name"] for each in container["volumeMounts"]}
    assert mounted == {each["name"] for each in spec["volumes"]}
    assert _options(container["args"]) <= _options_of_serve()
    assert container["readinessProbe"]["httpGet"]["path"] == "/ready"


def test_servers_behind_a_balancer_run_the_image_of_this_version(project: dict[str, Any]) -> None:
    text = (ROOT / "deploy" / "compose.yaml").read_text(encoding="utf-8")
    services = yaml.safe_load(text)["services"]
    balanced = set(
        re.findall(r"server (nymlink-\d):8000;", (ROOT / "deploy" / "nginx.conf").read_text(encoding="utf-8"))
    )
    assert balanced == set(services) - {"proxy"} == set(services["proxy"]["depends_on"])
    for name in balanced:
        assert services[name]["image"] == f"nymlink:{project['version']}"
        assert services[name]["environment"].keys() == {"OMP_NUM_THREADS"}
        assert _options(services[name]["command"]) <= _options_of_serve()
        assert "/ready" in services[name]["healthcheck"]["test"][-1]


def _options(arguments: list[str]) -> set[str]:
    return {argument.partition("=")[0] for argument in arguments if argument.startswith("--")}


def _options_of_serve() -> set[str]:
    serve = nymlink.get_command(click.Context(nymlink), "serve")
    assert serve is not None
    return {option for parameter in serve.get_params(click.Context(serve)) for option in parameter.opts}


def test_the_installed_version_is_that_of_the_project(project: dict[str, Any]) -> None:
    assert version("nymlink") == project["version"]
