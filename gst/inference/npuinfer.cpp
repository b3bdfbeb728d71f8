// npuinfer: runs an OpenVINO IR on frames as they come.
#include "common/elements.hpp"
#include "common/properties.hpp"

#include "npu_base.hpp"

namespace gstnpu {
namespace {

constexpr GEnumValue kResizeModes[] = {
    {0, "The model's resize_type, else stretch", "auto"},
    {choice(npu::ResizeMode::kStretch), "Fill the model's input whatever the aspect ratio",
     "stretch"},
    {choice(npu::ResizeMode::kLetterbox), "Keep the aspect ratio, with borders", "letterbox"},
    {choice(npu::ResizeMode::kCrop), "The middle of the frame, in the model's aspect ratio",
     "crop"},
    {choice(npu::ResizeMode::kFitToWindow),
     "Keep the aspect ratio, with a border at the right or below", "fit-to-window"},
    {0, nullptr, nullptr},
};

constexpr GEnumValue kChannelOrders[] = {
    {0, "The model's reverse_input_channels, else RGB", "auto"},
    {choice(npu::ChannelOrder::kRGB), "Red first", "rgb"},
    {choice(npu::ChannelOrder::kBGR), "Blue first", "bgr"},
    {0, nullptr, nullptr},
};

constexpr GEnumValue kRepairs[] = {
    {false, "Run the model as it is", "none"},
    {true, "Change what NPUs refuse or compute wrongly; nputensordec does what was cut off",
     "auto"},
    {0, nullptr, nullptr},
};

std::vector<Property<BaseElement>> properties() {
  using E = BaseElement;
  return {
      property<E, &Settings::resize>(
          g_param_spec_enum("resize-mode", "Resize mode", "How a frame fills the model's input",
                            enum_type<kResizeModes>("NpuResizeMode"), 0, kUntilReady)),
      property<E, &Settings::input_shape>(g_param_spec_string(
          "input-shape", "Input shape",
          "Sizes of the model's input, like 1,3,640,640; empty: the model's own, and those of its "
          "card, else the frame's, for what it leaves open",
          nullptr, kUntilReady)),
      property<E, &Settings::repair>(g_param_spec_enum(
          "repair", "Repair",
          "Move ends of detectors that NPUs refuse or compute wrongly to the host, drop rounding "
          "of whole numbers, make orig_target_sizes and scale_factor constants; each is reported",
          enum_type<kRepairs>("NpuRepair"), true, kUntilReady)),
      property<E, &Settings::mean>(g_param_spec_string(
          "mean", "Mean",
          "Subtracted from grey levels 0..255: one value, or one per channel in the "
          "model's order; empty: the model's mean_values",
          nullptr, kUntilReady)),
      property<E, &Settings::scale>(g_param_spec_string(
          "scale", "Scale",
          "Divides after the mean: one value, or one per channel; empty: the model's scale_values",
          nullptr, kUntilReady)),
      property<E, &Settings::channels>(
          g_param_spec_enum("channel-order", "Channel order", "Order that the model expects",
                            enum_type<kChannelOrders>("NpuChannelOrder"), 0, kUntilReady)),
      property<E, &Settings::preload>(g_param_spec_boolean(
          "preload", "Preload",
          "Compile on the way to PAUSED, for the frames that upstream offers, instead of when the "
          "first frame is there",
          false, kUntilReady)),
      property<E, &Settings::cache_dir>(
          g_param_spec_string("cache-dir", "Cache folder",
                              "Keep compiled models in this folder; empty: compile each time, "
                              "unless the driver has its own cache",
                              nullptr, kUntilReady)),
  };
}

void class_init(gpointer klass) {
  Properties<NpuBase, properties>::install(klass);
  gst_element_class_set_static_metadata(
      GST_ELEMENT_CLASS(klass), "NPU inference", "Filter/Analyzer/Video",
      "Runs an OpenVINO IR on an Intel NPU, with the conversion of frames inside the graph",
      "npucore");
  static_cast<GstNpuBaseClass*>(klass)->open_source = open_ir;
}

}  // namespace

gboolean register_npuinfer(GstPlugin* plugin) {
  return gst_element_register(plugin, "npuinfer", GST_RANK_NONE,
                              derived_type<class_init>("GstNpuInfer", npu_base_type()));
}

}  // namespace gstnpu
