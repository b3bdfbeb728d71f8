/* Reads what npuinfer and nputensordec found, in C: by a probe on a pad, or from an appsink.
 *
 * usage: read_answers probe|appsink LAUNCH_LINE   its last element is called "end":
 *   read_answers probe "filesrc location=clip.mp4 ! decodebin ! npuinfer model=model.xml !
 * nputensordec ! fakesink name=end"
 */
#include <gst/app/gstappsink.h>
#include <gst/gst.h>
#include <gst/npu/npumeta.h>
#include <string.h>

static void print_object(GstBuffer* buffer, guint index) {
  GstNpuObject object;
  GstNpuClass found;
  GstNpuKeyPoint point;
  GstNpuMask mask;

  gst_npu_buffer_get_object(buffer, index, &object);
  g_print("%s %.3f at %.2f,%.2f %.2fx%.2f", object.found.label, object.found.confidence,
          object.box.x, object.box.y, object.box.w, object.box.h);
  if (object.is_tracked) g_print(" id %" G_GUINT64_FORMAT, object.tracking_id);
  for (guint i = 0; gst_npu_buffer_get_class(buffer, index, i, &found); i++)
    g_print(" is %s", found.label);
  for (guint i = 0; gst_npu_buffer_get_key_point(buffer, index, i, &point); i++)
    g_print(" point %.2f,%.2f", point.x, point.y);
  if (gst_npu_buffer_get_mask(buffer, index, &mask)) {
    guint inside = 0;
    for (gsize i = 0; i < (gsize)mask.columns * mask.rows; i++) inside += mask.values[i] != 0;
    g_print(" mask of %ux%u with %u inside", mask.columns, mask.rows, inside);
  }
  g_print("\n");
}

static void print_answer(GstBuffer* buffer) {
  GstNpuTensor tensor;

  g_print("frame at %" G_GUINT64_FORMAT " ns\n", GST_BUFFER_PTS(buffer));
  for (guint i = 0; i < gst_npu_buffer_get_num_objects(buffer); i++) print_object(buffer, i);
  for (guint i = 0; gst_npu_buffer_get_tensor(buffer, i, &tensor); i++) {
    g_print("tensor %s %s", tensor.name, gst_npu_data_type_name(tensor.type));
    for (guint k = 0; k < tensor.num_dims; k++) g_print(" %" G_GSIZE_FORMAT, tensor.dims[k]);
    g_print(" of %" G_GSIZE_FORMAT " bytes\n", gst_memory_get_sizes(tensor.memory, NULL, NULL));
  }
}

/* Runs in the thread that streams: the frame waits meanwhile. */
static GstPadProbeReturn on_frame(GstPad* pad, GstPadProbeInfo* info, gpointer data) {
  (void)pad;
  (void)data;
  print_answer(GST_PAD_PROBE_INFO_BUFFER(info));
  return GST_PAD_PROBE_OK;
}

static void pull_all(GstAppSink* sink) {
  GstSample* sample;

  while ((sample = gst_app_sink_pull_sample(sink))) {
    print_answer(gst_sample_get_buffer(sample));
    gst_sample_unref(sample);
  }
}

/* Waits for the end of the stream, or its first error. */
static int wait_for_end(GstElement* pipeline) {
  GstBus* bus = gst_element_get_bus(pipeline);
  GstMessage* message =
      gst_bus_timed_pop_filtered(bus, GST_CLOCK_TIME_NONE, GST_MESSAGE_ERROR | GST_MESSAGE_EOS);
  int code = 0;

  if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_ERROR) {
    GError* error;
    gst_message_parse_error(message, &error, NULL);
    g_printerr("%s\n", error->message);
    g_error_free(error);
    code = 1;
  }
  gst_message_unref(message);
  gst_object_unref(bus);
  return code;
}

int main(int count, char** arguments) {
  GError* error = NULL;
  GstElement *pipeline, *end;
  int code;

  if (count != 3 || (strcmp(arguments[1], "probe") && strcmp(arguments[1], "appsink"))) {
    g_printerr("usage: read_answers probe|appsink LAUNCH_LINE\n");
    return 2;
  }
  gst_init(&count, &arguments);
  pipeline = gst_parse_launch(arguments[2], &error);
  end = pipeline && GST_IS_BIN(pipeline) ? gst_bin_get_by_name(GST_BIN(pipeline), "end") : NULL;
  if (error || !end) {
    g_printerr("%s\n", error ? error->message : "no element of the launch line is called \"end\"");
    return 1;
  }
  if (!strcmp(arguments[1], "probe")) {
    GstPad* pad = gst_element_get_static_pad(end, "sink");
    gst_pad_add_probe(pad, GST_PAD_PROBE_TYPE_BUFFER, on_frame, NULL, NULL);
    gst_object_unref(pad);
  }
  gst_element_set_state(pipeline, GST_STATE_PLAYING);
  if (!strcmp(arguments[1], "appsink")) pull_all(GST_APP_SINK(end));
  code = wait_for_end(pipeline);
  gst_element_set_state(pipeline, GST_STATE_NULL);
  gst_object_unref(end);
  gst_object_unref(pipeline);
  return code;
}
