#!/usr/bin/env python3
"""The manifests of deploy/kubernetes: rendered by kustomize, valid for Kubernetes' own schemas, and as confined as they promise.

usage: manifests_test.py FOLDER    FOLDER: of the environment with kubernetes-validate, made if this Python lacks it
"""
import copy
import shutil
import subprocess
import sys
import unittest
from pathlib import Path

TREE = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TREE / "tests" / "support"))
import with_packages  # noqa: E402

RENDER = [shutil.which("kubectl"), "kustomize"] if shutil.which("kubectl") else [shutil.which("kustomize"), "build"]
if RENDER[0] is None:
    print("skipped: neither kubectl nor kustomize is installed")
    sys.exit(with_packages.SKIPPED)
if len(sys.argv) > 1 and not sys.argv[1].startswith("-"):
    with_packages.need(sys.argv[1], kubernetes_validate="kubernetes-validate", yaml="PyYAML")
    del sys.argv[1]

import kubernetes_validate  # noqa: E402
import yaml  # noqa: E402

OVERLAYS = sorted(path.parent for path in (TREE / "deploy/kubernetes/overlays").glob("*/kustomization.yaml"))
CUSTOM = {"PodMonitor"}  # the Prometheus operator's: no schema of it is part of Kubernetes
VERSIONS = ("1.30", kubernetes_validate.latest_version())
NPU = "npu.intel.com/accel"


def rendered(folder):
    done = subprocess.run([*RENDER, str(folder)], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise AssertionError(f"{folder.name} cannot be rendered: {done.stderr}")
    return [document for document in yaml.safe_load_all(done.stdout) if document]


def validate(document):
    for version in VERSIONS:
        kubernetes_validate.validate(document, version, strict=True)


def pods(documents):
    return {document["metadata"]["name"]: document["spec"]["template"] for document in documents if document["kind"] == "StatefulSet"}


def of_kind(documents, kind):
    return {document["metadata"]["name"]: document for document in documents if document["kind"] == kind}


class Manifests(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.overlays = {folder.name: rendered(folder) for folder in OVERLAYS}

    def test_there_are_overlays(self):
        self.assertEqual(list(self.overlays), ["entrance", "parking", "site", "software"])

    def test_kubernetes_takes_them(self):
        for documents in self.overlays.values():
            for document in documents:
                if document["kind"] not in CUSTOM:
                    validate(document)

    def test_the_schemas_refuse_what_is_wrong(self):
        whole = of_kind(self.overlays["entrance"], "StatefulSet").popitem()[1]
        container = lambda document: document["spec"]["template"]["spec"]["containers"][0]  # noqa: E731
        for spoil in (lambda it: it["spec"].pop("serviceName") and it["spec"].update(serviceNames="x"),
                      lambda it: container(it).update(imagePullPolice="Always"),
                      lambda it: container(it)["ports"][0].update(containerPort="http"),
                      lambda it: it["spec"].pop("selector")):
            spoiled = copy.deepcopy(whole)
            spoil(spoiled)
            with self.assertRaises(kubernetes_validate.ValidationError):
                validate(spoiled)

    def test_a_pod_has_one_npu_and_no_rights(self):
        for name, documents in self.overlays.items():
            self.assertTrue(pods(documents))
            for template in pods(documents).values():
                pod = template["spec"]
                self.assertFalse(pod["automountServiceAccountToken"])
                self.assertTrue(pod["securityContext"]["runAsNonRoot"])
                self.assertTrue({"hostNetwork", "hostPID", "hostIPC"}.isdisjoint(pod))
                self.assertFalse([volume for volume in pod["volumes"] if "hostPath" in volume])
                for container in pod["containers"]:
                    rights = container["securityContext"]
                    self.assertEqual((rights["allowPrivilegeEscalation"], rights["readOnlyRootFilesystem"], rights["capabilities"]["drop"],
                                      rights.get("privileged", False)), (False, True, ["ALL"], False))
                npus = [container["resources"]["limits"].get(NPU, 0) for container in pod["containers"]]
                self.assertEqual(npus, [0 if name == "software" else 1])

    def test_what_is_named_is_there(self):
        for documents in self.overlays.values():
            for name, template in pods(documents).items():
                pod, stateful = template["spec"], of_kind(documents, "StatefulSet")[name]["spec"]
                volumes = {volume["name"]: volume for volume in pod["volumes"]}
                known = {*volumes, *(claim["metadata"]["name"] for claim in stateful["volumeClaimTemplates"])}
                for container in pod["containers"]:
                    self.assertLessEqual({mount["name"] for mount in container["volumeMounts"]}, known)
                self.assertIn(volumes["cameras"]["configMap"]["name"], of_kind(documents, "ConfigMap"))
                selector = stateful["selector"]["matchLabels"]
                service = of_kind(documents, "Service")[stateful["serviceName"]]
                policy = of_kind(documents, "NetworkPolicy")[name]
                for chosen in (selector, service["spec"]["selector"], policy["spec"]["podSelector"]["matchLabels"]):
                    self.assertLessEqual(chosen.items(), template["metadata"]["labels"].items())
                main = pod["containers"][0]
                ports = {port["name"] for port in main["ports"]}
                self.assertEqual([main[probe]["httpGet"]["path"] for probe in ("startupProbe", "readinessProbe", "livenessProbe")],
                                 ["/readyz", "/readyz", "/healthz"])
                self.assertLessEqual({main[probe]["httpGet"]["port"] for probe in ("startupProbe", "readinessProbe", "livenessProbe")}, ports)

    def test_groups_share_nothing(self):
        """Two groups in one namespace: other names, other pods, other streams."""
        documents = self.overlays["site"]
        labels = [template["metadata"]["labels"]["npu-stream/group"] for template in pods(documents).values()]
        self.assertEqual(len(labels), 2)
        self.assertEqual(len(set(labels)), 2)
        names = [(document["kind"], document["metadata"]["name"]) for document in documents]
        self.assertEqual(len(names), len(set(names)))
        streams = [stream["id"] for config in of_kind(documents, "ConfigMap").values()
                   for stream in yaml.safe_load(config["data"]["cameras.yaml"])["streams"]]
        self.assertEqual(len(streams), len(set(streams)))
        monitor = of_kind(documents, "PodMonitor").popitem()[1]["spec"]
        for template in pods(documents).values():
            self.assertLessEqual(monitor["selector"]["matchLabels"].items(), template["metadata"]["labels"].items())
            ports = {port["name"] for port in template["spec"]["containers"][0]["ports"]}
            self.assertLessEqual({endpoint["port"] for endpoint in monitor["podMetricsEndpoints"]}, ports)

    def test_the_configuration_reaches_the_program(self):
        for documents in self.overlays.values():
            for template in pods(documents).values():
                pod = template["spec"]
                config = of_kind(documents, "ConfigMap")[{volume["name"]: volume for volume in pod["volumes"]}["cameras"]["configMap"]["name"]]
                server = yaml.safe_load(config["data"]["cameras.yaml"])["server"]
                main = pod["containers"][0]
                self.assertIn(server["port"], [port["containerPort"] for port in main["ports"]])
                token = Path(server["token-file"])
                self.assertEqual(token.name, "token")  # the secret's key
                self.assertIn({"name": "token", "mountPath": str(token.parent), "readOnly": True}, main["volumeMounts"])
                self.assertEqual(main["args"], ["/etc/npu-stream/cameras.yaml"])


if __name__ == "__main__":
    unittest.main(verbosity=1)
