"""Recorded video to detections in Parquet, on a Ray cluster. Run it again to go on where it ended.

usage: python -m npucore.ray IN... OUT --model MODEL.xml
"""
import argparse
import sys

import npucore
import npucore.ray  # before Ray itself: it says how to install that
import ray


def main():
    parser = argparse.ArgumentParser(prog="python -m npucore.ray", description=__doc__.splitlines()[0])
    parser.add_argument("inputs", nargs="+", metavar="IN", help="a video, a folder of them, or a pattern; any that fsspec knows (s3://...)")
    parser.add_argument("output", metavar="OUT", help="the folder of the answers")
    parser.add_argument("--model", required=True, help="an .xml (OpenVINO IR)")
    parser.add_argument("--device", choices=("auto", "npu", "software"), default="auto",
                        help="auto: NPUs if the cluster has the resource NPU, else the software NPU")
    parser.add_argument("--workers", type=int, help="how many; else one for each NPU, or each CPU")
    parser.add_argument("--part-seconds", type=float, default=60, help="the least length of a part (60)")
    parser.add_argument("--confidence", type=float, help="threshold 0..1, else the model's")
    parser.add_argument("--iou", type=float, help="threshold of the suppression, else the model's")
    parser.add_argument("--address", help="the Ray cluster; else RAY_ADDRESS, else this machine alone")
    options = vars(parser.parse_args())
    ray.init(address=options.pop("address"), log_to_driver=False)
    try:
        summary = npucore.ray.run(**options)
    except (npucore.Error, OSError) as error:
        sys.exit(f"npucore.ray: {error}")
    print(f"{summary.parts} parts, {summary.done_before} of them before; {summary.missing_frames} frames could not be decoded; "
          f"{len(summary.failed)} failed")
    for name, why in summary.failed.items():
        print(f"{name}: {why}", file=sys.stderr)
    return 1 if summary.failed else 0


if __name__ == "__main__":
    sys.exit(main())
