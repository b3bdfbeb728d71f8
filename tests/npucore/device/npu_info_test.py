"""npu-info on a machine without an NPU: what it prints, and its exit codes.

Usage: npu_info_test.py <npu-info>
"""
import glob
import json
import subprocess
import sys
import tempfile
import unittest

PROGRAM = sys.argv.pop(1)


def run(*arguments):
    return subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, timeout=60)


class NpuInfo(unittest.TestCase):
    def test_software_as_json(self):
        done = run("--json", "--device", "software")
        self.assertEqual(done.returncode, 0, done.stderr)
        device = json.loads(done.stdout)["device"]
        self.assertTrue(device["software"])
        self.assertTrue(device["name"].startswith("Software NPU"), device["name"])
        self.assertEqual(device["platform"], "4000")
        self.assertEqual(device["pci_id"], "8086:643e")
        self.assertIn("ZE_extension_graph " + device["graph_extension"], device["extensions"])
        self.assertTrue(device["driver_library"].endswith("libze_softnpu.so"))

    def test_software_as_text(self):
        done = run("--device", "software")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("no hardware: runs on the CPU", done.stdout.splitlines()[0])
        self.assertRegex(done.stdout, r"(?m)^  compiler +\d+\.\d+$")

    @unittest.skipIf(glob.glob("/dev/accel/accel*"), "there is an NPU")
    def test_auto_tells_what_is_missing(self):
        done = run()
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("device node     MISSING", done.stdout)
        self.assertEqual(done.stderr, "")

    @unittest.skipIf(glob.glob("/dev/accel/accel*"), "there is an NPU")
    def test_no_npu_is_exit_code_1(self):
        done = run("--json", "--device", "npu")
        self.assertEqual(done.returncode, 1)
        report = json.loads(done.stdout)
        self.assertIsNone(report["device"])
        self.assertIn("device node", report["error"])
        steps = [step["what"] for step in report["looking_for_an_npu"]]
        self.assertEqual(steps, ["device node", "permission", "driver library", "loader", "device"])

    @unittest.skipIf(glob.glob("/dev/accel/accel*"), "there is an NPU")
    def test_a_device_by_its_address(self):
        device = json.loads(run("--json", "--device", "software").stdout)["device"]
        for address in (device["pci_address"], device["uuid"]):
            done = run("--json", "--device", address)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(json.loads(done.stdout)["device"], device)
        done = run("--json", "--device", "0000:7f:00.0")
        self.assertEqual(done.returncode, 1)
        self.assertIn("this process can open: Software NPU", json.loads(done.stdout)["error"])

    def test_an_onnx_model_tells_how_to_convert_it(self):
        with tempfile.NamedTemporaryFile(suffix=".onnx") as file:
            file.write(b"\x08\x0a\x3a\x10")
            file.flush()
            done = run(file.name)
        self.assertEqual(done.returncode, 1)
        self.assertIn("is an ONNX model: make an OpenVINO IR of it (pip install openvino; ovc ", done.stderr)

    def test_wrong_usage_is_exit_code_2(self):
        for arguments in (["--device", "gpu"], ["--no-such-option"]):
            self.assertEqual(run(*arguments).returncode, 2, arguments)

    def test_help_is_exit_code_0(self):
        done = run("--help")
        self.assertEqual(done.returncode, 0)
        self.assertIn("--json", done.stdout)


unittest.main()
