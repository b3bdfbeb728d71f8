#include <dlfcn.h>

#include <filesystem>
#include <string>

#include <npucore/error.hpp>

#include "meta/npumeta.h"

#include "refs.hpp"
#include "video.hpp"

namespace pynpu::video {
namespace {

namespace fs = std::filesystem;

/// The plugin that was made with the metadata library: as it is installed beside it, or in the
/// build.
fs::path own_plugin() {
  Dl_info info{};
  if (::dladdr(reinterpret_cast<void*>(&gst_npu_buffer_has_answer), &info) == 0) return {};
  const fs::path folder = fs::path(info.dli_fname).parent_path();
  for (const char* place : {"gstreamer-1.0", "../plugin"}) {
    std::error_code none;
    const fs::path file = fs::weakly_canonical(folder / place / "libgstnpu.so", none);
    if (fs::exists(file, none)) return file;
  }
  throw npu::Error(npu::ErrorCode::kNotFound, "there is no libgstnpu.so with npuinfer in " +
                                                  folder.string() +
                                                  "/gstreamer-1.0: install npucore again");
}

void start_gstreamer() {
  GError* failure = nullptr;
  if (gst_init_check(nullptr, nullptr, &failure)) return;
  const Ref<GError> error(failure);
  throw npu::Error(npu::ErrorCode::kUnsupported,
                   std::string("GStreamer cannot be started: ") +
                       (error ? error->message : "it gives no reason"));
}

/// Two builds of the elements would register the same types.
void refuse_another_build(const fs::path& own) {
  const Ref<GstPlugin> known(gst_registry_find_plugin(gst_registry_get(), "npu"));
  if (!known || !gst_plugin_is_loaded(known.get())) return;
  const gchar* file = gst_plugin_get_filename(known.get());
  std::error_code none;
  if (file == nullptr || fs::equivalent(file, own, none)) return;
  throw npu::Error(npu::ErrorCode::kUnsupported,
                   std::string("this process has loaded other npu elements already, from ") + file +
                       ", and cannot load those of this package beside them: call npucore.video() "
                       "before other code makes pipelines, or take " +
                       file + " out of GST_PLUGIN_PATH");
}

}  // namespace

void prepare() {
  start_gstreamer();
  const fs::path own = own_plugin();
  refuse_another_build(own);
  GError* failure = nullptr;
  // Its elements take the place of those that the registry knows from elsewhere.
  static const GstPlugin* loaded = nullptr;
  if (loaded == nullptr) {
    loaded = gst_plugin_load_file(own.c_str(), &failure);
  }
  if (loaded != nullptr) return;
  const Ref<GError> error(failure);
  throw npu::Error(npu::ErrorCode::kUnsupported, own.string() + " cannot be loaded: " +
                                                     (error ? error->message : "no reason given"));
}

}  // namespace pynpu::video
