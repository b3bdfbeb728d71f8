# Sourced by the other scripts here. They read from the environment:
#   MODEL    an OpenVINO IR and what describes it: a .modelinfo, metadata.yaml or config.json    (the demo model)
#   DEVICE   auto, npu or software    (auto)
#   SINK     what shows the frames that are drawn on, such as autovideosink    (fakesink)
# GStreamer must find the elements: install them, or set GST_PLUGIN_PATH.
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
shapes=$here/../models/shapes
asked=${MODEL-}
: "${MODEL:=$shapes/shapes.xml}" "${DEVICE:=auto}" "${SINK:=fakesink}"

# task_model TASK: the demo's model of a task, which the build makes, or MODEL where the caller has set it.
task_model() {
  echo "${asked:-$here/../build/models/shapes/shapes_$1_openvino_model/shapes_$1.xml}"
}

# Prints the line so that it can be pasted, then becomes it. What gst-launch-1.0 says, and so every warning of the elements, goes to the
# standard error; JSON lines go to descriptor 3, which is the standard output.
launch() {
  {
    printf 'gst-launch-1.0 --no-position'
    for word; do
      case $word in *[!A-Za-z0-9_./:=,%@!+-]*) printf " '%s'" "$word" ;; *) printf ' %s' "$word" ;; esac
    done
    echo ' 3>&1 >&2'
  } >&2
  exec gst-launch-1.0 --no-position "$@" 3>&1 >&2
}
