#!/usr/bin/env python3
"""Writes the fuzzers' first inputs: small files of every format, made here and by nobody else.

usage: make_corpus.py FOLDER    a folder for each fuzzer in it

Inputs that runs of scripts/fuzz.sh found are kept beside them, in one archive for each fuzzer. To make one of a folder's files:
  tar --sort=name --mtime=@0 --owner=0 --group=0 --numeric-owner --mode=u=rwX,go=rX --format=ustar -C FOLDER -cJf FUZZER.tar.xz .
"""
import struct
import sys
from pathlib import Path


def dims(shape):
    return "".join(f"<dim>{dim}</dim>" for dim in shape)


def layer(number, kind, inputs=(), outputs=(), data="", opset="opset1", name=None, inside=""):
    """Ports are shapes: numbered from 0 on, the inputs first."""
    ports = ""
    if inputs:
        ports += "<input>" + "".join(f'<port id="{i}">{dims(shape)}</port>' for i, shape in enumerate(inputs)) + "</input>"
    if outputs:
        ports += "<output>" + "".join(
            f'<port id="{len(inputs) + i}" precision="FP32" names="t{number}_{i}">{dims(shape)}</port>'
            for i, shape in enumerate(outputs)) + "</output>"
    data = f"<data {data}/>" if data else ""
    return f'<layer id="{number}" name="{name or kind.lower() + str(number)}" type="{kind}" version="{opset}">{data}{ports}{inside}</layer>'


def parameter(number, shape, shown=None, kind="f32"):
    return layer(number, "Parameter", outputs=[shape], data=f'shape="{shown or ",".join(map(str, shape))}" element_type="{kind}"')


def const(number, shape, offset, size, kind="f32"):
    shown = ",".join(map(str, shape))
    return layer(number, "Const", outputs=[shape], data=f'element_type="{kind}" shape="{shown}" offset="{offset}" size="{size}"')


def edge(source, source_port, target, target_port):
    return f'<edge from-layer="{source}" from-port="{source_port}" to-layer="{target}" to-port="{target_port}"/>'


def net(layers, edges, rt_info="", version=11):
    return (f'<?xml version="1.0"?><net name="fuzz" version="{version}"><layers>{"".join(layers)}</layers>'
            f'<edges>{"".join(edges)}</edges>{f"<rt_info>{rt_info}</rt_info>" if rt_info else ""}</net>')


PICTURE = [1, 3, 8, 8]


def direct(version=11, shown=None, shape=PICTURE):
    return net([parameter(0, shape, shown), layer(1, "Result", inputs=[shape])], [edge(0, 0, 1, 0)], version=version)


def with_constant():
    return net([parameter(0, PICTURE), const(1, [1], 0, 4), layer(2, "Multiply", [PICTURE, [1]], [PICTURE]),
                layer(3, "Result", inputs=[PICTURE])], [edge(0, 0, 2, 0), edge(1, 0, 2, 1), edge(2, 2, 3, 0)])


def with_identity():
    return net([parameter(0, PICTURE), layer(1, "Identity", [PICTURE], [PICTURE], opset="opset16"),
                layer(2, "Result", inputs=[PICTURE])], [edge(0, 0, 1, 0), edge(1, 1, 2, 0)])


def with_interpolate(mode):
    kind, size = ("i64", 16) if mode == "sizes" else ("f32", 8)
    data = f'mode="linear_onnx" shape_calculation_mode="{mode}" coordinate_transformation_mode="half_pixel"'
    return net([parameter(0, PICTURE), const(1, [2], 0, size, kind), const(2, [2], 64, 16, "i64"),
                layer(3, "Interpolate", [PICTURE, [2], [2]], [[1, 3, 16, 16]], data, "opset11"),
                layer(4, "Result", inputs=[[1, 3, 16, 16]])],
               [edge(0, 0, 3, 0), edge(1, 0, 3, 1), edge(2, 0, 3, 2), edge(3, 3, 4, 0)])


def with_state():
    shape = [1, 4]
    return net([parameter(0, shape), const(1, [1], 0, 2, "f16"),
                layer(2, "Convert", [[1]], [[1]], 'destination_type="f32"'), const(3, [2], 64, 16, "i64"),
                layer(4, "Broadcast", [[1], [2]], [shape], 'mode="numpy"', "opset3"),
                layer(5, "ReadValue", [shape], [shape], 'variable_id="memory" variable_type="f32"', "opset6"),
                layer(6, "Add", [shape, shape], [shape]),
                layer(7, "Assign", [shape], (), 'variable_id="memory"', "opset6"), layer(8, "Result", inputs=[shape])],
               [edge(1, 0, 2, 0), edge(2, 1, 4, 0), edge(3, 0, 4, 1), edge(4, 2, 5, 0), edge(5, 1, 6, 0), edge(0, 0, 6, 1),
                edge(6, 2, 7, 0), edge(6, 2, 8, 0)])


def with_body():
    inner = (f'<layers>{parameter(0, [1, 4])}{const(1, [1], 0, 4)}{layer(2, "Identity", [[1, 4]], [[1, 4]], opset="opset16")}'
             f'{layer(3, "Result", inputs=[[1, 4]])}</layers><edges>{edge(0, 0, 2, 0)}{edge(2, 1, 3, 0)}</edges>')
    body = ('<port_map><input external_port_id="0" internal_layer_id="0"/></port_map>'
            f'<body>{inner}</body>')
    return net([parameter(0, [1, 4]), layer(1, "Loop", [[1, 4]], [[1, 4]], opset="opset5", inside=body),
                layer(2, "Result", inputs=[[1, 4]])], [edge(0, 0, 1, 0), edge(1, 1, 2, 0)])


def with_colours():
    """Two planes joined, converted by one convolution and limited: what fuse_guard looks for."""
    plane, both = [1, 1, 8, 8], [1, 3, 8, 8]
    return net([parameter(0, [1, 8, 8, 1]), const(1, [4], 0, 32, "i64"), layer(2, "Reshape", [[1, 8, 8, 1], [4]], [plane]),
                parameter(3, [1, 4, 4, 2]), layer(4, "Transpose", [[1, 4, 4, 2], [4]], [[1, 2, 4, 4]]),
                layer(5, "Interpolate", [[1, 2, 4, 4], [2]], [[1, 2, 8, 8]], 'shape_calculation_mode="scales"', "opset11"),
                layer(6, "Concat", [plane, [1, 2, 8, 8]], [both], 'axis="1"'), const(7, [3, 3, 1, 1], 64, 36),
                layer(8, "Convolution", [both, [3, 3, 1, 1]], [both]), const(9, [1, 3, 1, 1], 128, 12),
                layer(10, "Add", [both, [1, 3, 1, 1]], [both]), layer(11, "Clamp", [both], [both], 'min="0" max="255"'),
                const(12, [2], 192, 8), layer(13, "Result", inputs=[both])],
               [edge(0, 0, 2, 0), edge(1, 0, 2, 1), edge(3, 0, 4, 0), edge(1, 0, 4, 1), edge(4, 2, 5, 0), edge(12, 0, 5, 1),
                edge(2, 2, 6, 0), edge(5, 2, 6, 1), edge(6, 2, 8, 0), edge(7, 0, 8, 1), edge(8, 2, 10, 0), edge(9, 0, 10, 1),
                edge(10, 2, 11, 0), edge(11, 1, 13, 0)],
               '<model_info><model_type value="YOLO"/><resize_type value="fit_to_window_letterbox"/><pad_value value="114"/>'
               '<mean_values value="1 2 3"/><scale_values value="255"/><reverse_input_channels value="YES"/>'
               '<labels value="a b"/><deep><er value="1"/></deep></model_info>')


IRS = {
    "direct": direct(), "old": direct(10), "dynamic": direct(shown="?,3,1..8,2..", shape=[-1, 3, -1, -1]),
    "rank": direct(shown="...", shape=[]), "nhwc": direct(shape=[1, 8, 8, 3]), "constant": with_constant(),
    "identity": with_identity(), "sizes": with_interpolate("sizes"), "scales": with_interpolate("scales"),
    "state": with_state(), "body": with_body(), "colours": with_colours(),
}


def elf(sections):
    """A little-endian ELF64 file; sections are (name, type, content), and the names come last."""
    names = b"\0" + b"".join(name + b"\0" for name, _, _ in sections) + b".shstrtab\0"
    sections = sections + [(b".shstrtab", 3, names)]
    place = 64 + 64 * (len(sections) + 1)
    table, contents, name_at = bytes(64), b"", 1
    for name, kind, content in sections:
        table += struct.pack("<IIQQQQIIQQ", name_at, kind, 0, 0, place + len(contents), len(content), 0, 0, 1, 0)
        contents += content
        name_at += len(name) + 1
    header = b"\x7fELF\x02\x01\x01" + bytes(9) + struct.pack("<HHIQQQIHHHHHH", 0, 0, 1, 0, 0, 64, 0, 64, 0, 0, 64,
                                                             len(sections) + 1, len(sections))
    return header + table + contents


def version_note(*numbers):
    return struct.pack("<III4sIIII", 4, 16, 1, b"GNU\0", 0, *numbers)


NATIVE = elf([(b".note.LoaderABIVersion", 7, version_note(1, 2, 7)), (b".note.MappedInferenceVersion", 7, version_note(11, 13, 0)),
              (b".text", 1, bytes(range(32)))])


def fnv(content, prime, value, mask):
    for byte in content:
        value = (value ^ byte) * prime & mask
    return value


def metadata(minor):
    """OpenVINO's, as release 2026.4.1 writes it."""
    fields = struct.pack("<HHHHH", minor, 2, 2026, 4, 1)
    later = [struct.pack("<Q", 0), struct.pack("<Q", 1), struct.pack("<QQ", 1, 1) + (struct.pack("<H", 4) + b"NCHW") * 2,
             struct.pack("<I", 0x70005), b"\0", struct.pack("<Q", 3) + b"abc", b"\0"]
    return fields + b"".join(later[:minor])


def container(payload, behind, description=None):
    if description is not None:
        behind += description + struct.pack("<QQ", fnv(description, 0x100000001b3, 0xcbf29ce484222325, 2**64 - 1),
                                            len(description)) + b"NPUCORE1"
    return payload + behind + struct.pack("<Q", len(payload)) + b"OVNPU"


PORT = '<{0} name="{0}" type="f32" shape="1,3,8,8"><tensor name="t"/></{0}>'
PLAIN = ('<npucore version="1" model="fuzz" compiler="7.5">'
         '<built_with platform="4000" compiler="7.5.0" elf="1.2.7" runtime="11.13.0" driver="7"/>'
         + PORT.format("input") + PORT.format("output") + '<state id="memory" initial="0000803f"/>'
         '<model_info name="labels" value="a b"/></npucore>')
FRAMES = ('<npucore version="1" model="fuzz" compiler="7.5">' + PORT.format("input") + PORT.format("output")
          + '<frame_input><preprocess input="image" resize="letterbox" pad_value="114" channels="RGB"><mean value="1"/>'
          '<scale value="2.5"/><frame format="NV12" width="16" height="16" crop_left="0" crop_top="0" matrix="bt601" '
          'range="limited"><plane stride_bytes="16" rows="16"/><plane stride_bytes="16" rows="8"/></frame></preprocess>'
          '<geometry model_width="8" model_height="8" offset_x="0" offset_y="0" scale_x="2" scale_y="2"/>'
          '<plane_input name="image/y"/><plane_input name="image/uv"/></frame_input></npucore>')


def containers():
    made = {"bare": NATIVE, "plain": container(NATIVE, metadata(0), PLAIN.encode()),
            "frames": container(NATIVE, metadata(0), FRAMES.encode()), "xml": b"<?xml ?><compiled_blob/>"}
    made.update({f"openvino-2-{minor}": container(NATIVE, metadata(minor)) for minor in range(8)})
    return made


def cache_entry(blob, key):
    """With a hash of 0: the fuzzer's mutator knows XXH3 and puts in the right one."""
    return blob + key + struct.pack("<QQQ", len(key), len(blob), 0) + b"NPUCACH1"


def softnpu_blob(ir):
    flags = b'--inputs_precisions="0:FP32"'
    checksum = fnv(flags + ir, 0x01000193, 0x811c9dc5, 2**32 - 1)
    note = struct.pack("<III8sIIIIIII", 8, 28, 1, b"SoftNPU\0", 2, 4000, 0x10000, checksum, 11, 13, 0)
    return elf([(b".note.softnpu", 7, note), (b".softnpu.flags", 1, flags), (b".softnpu.ir", 1, ir),
                (b".softnpu.weights", 1, bytes(64))])


def softnpu_inputs():
    ir, version = with_constant().encode(), struct.pack("<HH", 7, 5)
    address = ir.replace(b'offset="0" size="4"/>', b'offset="0" size="0"/><rt_info><attribute name="WeightsPointerAttribute" '
                         b'version="0" mp="4096" ms="4"/></rt_info>')
    made = {"buffer": version + struct.pack("<IQ", 2, len(ir)) + ir + struct.pack("<Q", 64) + bytes(64), "blob": softnpu_blob(ir)}
    for name, xml, constants in (("copied", ir, bytes(64)), ("addressed", address, b"")):
        start = 52 + len(constants)
        made[name] = struct.pack("<QQQQQQ", 48, 4, 52, len(constants), start, len(xml)) + version + constants + xml
    return made


PROPERTIES = {
    "names": 'CACHE_DIR=/tmp PERF_COUNT=yes, NPU_TILES=2 NPU_COMPILATION_MODE_PARAMS="a=b c=d"\nPERFORMANCE_HINT=latency\n'
             'NV12:1920x1080:stride=2048:rows=1088:crop=2,4\n1,2.5,3\n123.7,116.3,103.5\nLOG_LEVEL=LOG_INFO',
    "frames": "CACHE_SIZE=4G\nNPU_PLATFORM=NPU4000\nI420:16x16:stride=32,16,16:rows=16,8,8\n-1e3\n1 2 3\nA=B,C=D",
    "formats": "INFERENCE_PRECISION_HINT=f16 MODEL_PRIORITY=HIGH\nNPU_MAX_TILES=6\nYUY2:5x3\n0\n.5\nA=",
}

MODEL_INFO = """[modelinfo]
version=1.0
group-id=yolo-v8-tensors

[images]
id=image
dir=input
type=uint8
dims=1,3,-1,-1

[output]
id=yolo-v8-out
dir=output
type=float32
dims=1,84,8400
dims-order=row-major
labels=a, b,c
confidence-threshold=0.5
iou-threshold=0.45
"""


def write(folder, inputs):
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in inputs.items():
        (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())


def message(kind, texts, files=()):
    """As npu_vcl/message.hpp has it."""
    def record(kind, name, value):
        return kind + struct.pack("<IQ", len(name), len(value)) + name.encode() + value
    records = record(b"t", "", kind.encode())
    for name, value in sorted(texts.items()):
        records += record(b"t", name, value.encode())
    for name, size in files:
        records += record(b"f", name, struct.pack("<Q", size))
    return b"NPUH" + struct.pack("<IQII", 2, len(records), len(files), 0) + records


def messages():
    return {"ready": message("ready", {"api_major": "7"}),
            "compile": message("compile", {"build_flags": '--config A="1"'}, [("ir", 100), ("weights", 64)]),
            "two": message("ready", {}) + message("error", {"code": "not found", "what": "x"})}



# The first byte chooses the reader: metadata.yaml, config.json, preprocessor_config.json, inference.yml, a card, model_info.
CARDS = {
    "metadata": "0description: Ultralytics YOLO11n-pose model\ntask: pose\nbatch: 1\nimgsz:\n- 384\n- 640\nnames:\n  0: person\n  1: 'no'\n"
                "kpt_shape: [2, 3]\nkpt_names:\n  0: [nose, ear]\nargs:\n  nms: false\n  iou: 0.7\nend2end: false\n",
    "literals": "0task: detect\nend2end: 'True'\nimgsz: '[640, 640]'\nargs: \"{'nms': None}\"\nnames: \"{0: 'a', 2: 'b'}\"\n",
    "anchors": "0a: &a [x]\nnames: *a\n? [b]\n: |\n  c\n",
    "hugging-face": '1{"architectures": ["RTDetrV2ForObjectDetection"], "use_focal_loss": true, "id2label": {"0": "a", "2": "b"}}',
    "timm": '1{"architecture": "resnet", "num_classes": 1, "label_names": ["n1"], "label_descriptions": {"n1": "tench"}, '
            '"pretrained_cfg": {"input_size": [3, 224, 224], "mean": [0.5, 0.4, 0.3], "std": [0.2, 0.2, 0.2]}}',
    "paddle": '1{"Global": {"model_name": "det"}, "PreProcess": {"transform_ops": [{"DecodeImage": {"img_mode": "RGB"}}, '
              '{"NormalizeImage": {"mean": [0.5], "std": [0.2], "scale": "1./255."}}]}, "PostProcess": {"name": "DBPostProcess"}}',
    "preprocessor": '2{"image_mean": [0.5, 0.4, 0.3], "image_std": 0.5, "rescale_factor": 0.0039, "rescale_offset": true, "do_normalize": true, '
                    '"do_rescale": true, "size": {"height": 224, "width": 224}, "do_center_crop": false, "do_flip_channel_order": true}',
    "inference": "3Global:\n  model_name: rec\nPreProcess:\n  transform_ops:\n  - RecResizeImg:\n      image_shape: [3, 48, 320]\n  - KeepKeys\n"
                 "PostProcess:\n  name: CTCLabelDecode\n  character_dict: ['0', a, \"'\"]\n",
    "card": '4{"task":"pose","family":"yolo","labels":["a"],"iou_threshold":0.7,"max_objects":10,"end_to_end":false,"key_points":2,'
            '"key_point_values":3,"key_point_names":["x","y"],"skeleton":[[0,1]],"characters":["b"],"normalization_scale":2,"resize":"letterbox",'
            '"pad_value":114,"channels":"BGR","mean":[1,2,3],"scale":[4],"input_width":640,"origins":{"task":"metadata.yaml"}}',
    "model-info": "5model_type ssd\nlabels a b\niou_threshold 0.5\nmean_values [1, 2, 3]\nresize_type fit_to_window\nmultilabel True\n",
}


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    root = Path(sys.argv[1])
    write(root / "ir", IRS)
    write(root / "container", containers())
    write(root / "description", {"plain": PLAIN, "frames": FRAMES})
    write(root / "softnpu", softnpu_inputs())
    write(root / "cache-entry", {"plain": cache_entry(container(NATIVE, metadata(0), PLAIN.encode()), b"key of a model")})
    write(root / "message", messages())
    write(root / "properties", PROPERTIES)
    write(root / "card", CARDS)
    wrong = "[modelinfo]\nversion=1.0\ngroup-id=g\n\n[o]\ndir=output\n"
    write(root / "model-info", {"detector": MODEL_INFO, "labels": "circle\nsquare\n\nline\n",
                                "wrong-escape": wrong + "type=\\loat32\n", "wrong-list": wrong + "labels=a,\\q,b\n"})


if __name__ == "__main__":
    main()
