// Sends NV12 frames of a small pool through npuinfer, and tells the auditors of calls and of the
// heap when those of FRAMES frames begin and end: calls_run offered|imported FRAMES [MODEL] It does
// not link npucore, so that the plugin's own inline functions are the plugin's.
#include <dlfcn.h>

#include <cstdlib>
#include <cstring>

#include "call_audit.hpp"
#include "element_harness.hpp"
#include "heap_audit.hpp"

namespace gstnpu::test {
namespace {

constexpr guint kPool = 3;
constexpr guint kWarmUp = 2 * kPool;  // compiled, imported, requests made
constexpr int kWidth = 64, kHeight = 48;

/// Frames in memory that the element offers, as a decoder takes it.
std::vector<MemoryRef> offered(ElementHarness& harness) {
  const CapsRef caps(gst_caps_from_string(caps_of("NV12", kWidth, kHeight).c_str()));
  GstQuery* query = gst_query_new_allocation(caps.get(), FALSE);
  gst_pad_peer_query(harness.get()->srcpad, query);
  GstAllocator* allocator = nullptr;
  gst_query_parse_nth_allocation_param(query, 0, &allocator, nullptr);
  std::vector<MemoryRef> memories;
  for (guint i = 0; i < kPool; ++i) {
    memories.emplace_back(gst_allocator_alloc(allocator, kWidth * kHeight * 3 / 2, nullptr));
  }
  gst_object_unref(allocator);
  gst_query_unref(query);
  return memories;
}

std::vector<MemoryRef> foreign() {
  std::vector<MemoryRef> memories;
  for (guint i = 0; i < kPool; ++i) {
    memories.push_back(make_dmabuf_memory(kWidth * kHeight * 3 / 2, 128));
  }
  return memories;
}

/// GStreamer binds all symbols of a plugin at once, and the linker's auditors only see calls of
/// those that it binds when they are first called.
bool load_lazily() {
  const char* folder = std::getenv("GST_PLUGIN_PATH");
  const std::string plugin = std::string(folder ? folder : ".") + "/libgstnpu.so";
  return dlopen(plugin.c_str(), RTLD_LAZY | RTLD_LOCAL) != nullptr;
}

/// No such library is there, but the auditor of calls is asked for it. That of the heap is
/// preloaded or not.
void tell_auditors(bool begins) {
  if (void* library = dlopen(begins ? kCallAuditBegin : kCallAuditEnd, RTLD_LAZY)) {
    dlclose(library);
  }
  if (void* audit = dlsym(RTLD_DEFAULT, "audit_heap")) {
    reinterpret_cast<decltype(&audit_heap)>(audit)(begins);
  }
}

int run(bool is_offered, guint frames, std::string model) {
  const TempDir dir;
  if (model.empty()) {
    model = dir.write("pixels.xml", pixels_ir(8, 8)).string();
  }
  ElementHarness harness("npuinfer", [&](GstElement* element) {
    g_object_set(element, "model", model.c_str(), "device", "software", nullptr);
  });
  harness.set_caps(caps_of("NV12", kWidth, kHeight));
  const std::vector<MemoryRef> pool = is_offered ? offered(harness) : foreign();
  for (guint i = 0; i < kWarmUp + frames; ++i) {
    if (i == kWarmUp) {
      tell_auditors(true);
    }
    if (harness.push(frame_in(pool[i % kPool].get())) != GST_FLOW_OK || !harness.pull()) return 1;
  }
  tell_auditors(false);
  return harness.stat(is_offered ? "offered" : "imported") == kWarmUp + frames ? 0 : 1;
}

}  // namespace
}  // namespace gstnpu::test

int main(int argc, char** argv) {
  if (argc < 3 || argc > 4 || !gstnpu::test::load_lazily()) return 2;
  gst_init(nullptr, nullptr);
  return gstnpu::test::run(std::strcmp(argv[1], "offered") == 0,
                           static_cast<guint>(std::atoi(argv[2])), argc == 4 ? argv[3] : "");
}
