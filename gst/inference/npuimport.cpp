// npuimport: runs a precompiled blob on frames of the layout that it was compiled for.
#include "common/elements.hpp"
#include "common/properties.hpp"

#include "npu_base.hpp"

namespace gstnpu {
namespace {

constexpr GEnumValue kConvertChoices[] = {
    {false, "Stop with an error that says how to compile the blob for them", "never"},
    {true, "Copy each frame into the blob's layout", "allow"},
    {0, nullptr, nullptr},
};

std::vector<Property<BaseElement>> properties() {
  return {
      property<BaseElement, &Settings::converts_layout>(
          g_param_spec_enum("convert", "Convert",
                            "What happens to frames that cannot be read in place only because the "
                            "blob was compiled for other strides",
                            enum_type<kConvertChoices>("NpuConvert"), false, kUntilReady)),
  };
}

void class_init(gpointer klass) {
  Properties<NpuBase, properties>::install(klass);
  gst_element_class_set_static_metadata(
      GST_ELEMENT_CLASS(klass), "NPU inference, precompiled", "Filter/Analyzer/Video",
      "Runs a precompiled blob on an Intel NPU: no compiler needed", "npucore");
  static_cast<GstNpuBaseClass*>(klass)->open_source = open_blob;
}

}  // namespace

gboolean register_npuimport(GstPlugin* plugin) {
  return gst_element_register(plugin, "npuimport", GST_RANK_NONE,
                              derived_type<class_init>("GstNpuImport", npu_base_type()));
}

}  // namespace gstnpu
