"""Shows the NPU, its driver, compiler and extensions, and what is missing if there is none, as npu-info does.

usage: python -m npucore [--device auto|npu|software|ADDRESS]
"""
import argparse
import sys

import npucore


def line(label, value):
    return f"  {label:<16}{value}"


def dotted(version):
    return ".".join(map(str, version))


def device_lines(device):
    info = device.info
    yield info.name + (" (no hardware: runs on the CPU)" if info.is_software else "")
    yield line("platform", f"{info.platform or 'unknown'}, {info.tiles} tiles")
    yield line("PCI", f"8086:{info.pci_device_id:04x} at {info.pci_address or 'unknown'}")
    yield line("UUID", info.uuid)
    yield line("memory", f"{info.memory_bytes >> 20} MiB")
    yield line("driver", f"{info.driver_version}, {info.driver_library or 'unknown'}")
    yield line("loader", info.loader_version or "unknown")
    yield line("graph extension", dotted(info.graph_extension[:2]))
    yield line("compiler", dotted(info.compiler[:2]) if any(info.compiler[:2]) else "none: blobs only")
    yield line("blobs", f"ELF {dotted(info.blob_elf)}, runtime {dotted(info.blob_runtime)}")
    for index, extension in enumerate(info.extensions):
        yield line("" if index else "extensions", extension)


def finding_lines(findings, not_ok):
    for finding in findings:
        yield line(finding.what, ("ok: " if finding.ok else not_ok) + finding.detail)
        if finding.cure:
            yield line("", "-> " + finding.cure)


def report_lines(device):
    if device:
        yield from device_lines(device)
        yield "Sources of DMA-BUFs that other devices can fill (the first that works is used):"
        yield from finding_lines(device.dmabuf_sources(), "no: ")
    if not device or device.is_software:
        yield "Looking for an NPU in this machine:"
        yield from finding_lines(npucore.diagnose(), "MISSING: ")


def main():
    parser = argparse.ArgumentParser(prog="python -m npucore", description=__doc__.splitlines()[0])
    parser.add_argument("--device", default="auto", help="auto, npu, software, or an NPU's PCI address (0000:00:0b.0) or UUID")
    device, error = None, None
    # Opened first: looking for a real NPU may start the driver loader without the software NPU.
    try:
        device = npucore.Device(parser.parse_args().device)
    except npucore.Error as caught:
        error = caught
    for text in report_lines(device):
        print(text)
    if error:
        print(error)
    return 0 if device else 1


if __name__ == "__main__":
    sys.exit(main())
