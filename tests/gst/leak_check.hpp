// Finds objects that a test of elements leaves behind, with GStreamer's leaks tracer.
#pragma once

#include <gst/gst.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <memory>
#include <set>
#include <string>

namespace gstnpu_test {

/// The source files whose tests fail where the leaks tracer does not run.
inline std::set<std::string>& files_that_need_tracer() {
  static std::set<std::string> files;
  return files;
}

/// For a variable of such a file, which gives its __FILE__.
inline bool need_tracer(const char* file) {
  return files_that_need_tracer().insert(file).second;
}

/// Fails when a test leaves objects of GStreamer behind. Looks where GST_TRACERS is set, and at the
/// tests that need it.
class LeakCheck : public testing::EmptyTestEventListener {
 public:
  void OnTestStart(const testing::TestInfo& test) override {
    is_looking_ =
        std::getenv("GST_TRACERS") != nullptr || files_that_need_tracer().count(test.file()) != 0;
    if (is_looking_) {
      before_ = live_objects();
    }
  }
  void OnTestEnd(const testing::TestInfo& test) override {
    if (!is_looking_) return;
    // A pad's thread drops its task a little after the pad has stopped; listing an object that is
    // just being freed would crash the tracer.
    Objects left;
    for (int look = 0; look < 500 && (look == 0 || !left.empty()); ++look) {
      g_usleep(20'000);
      left = left_behind();
    }
    for (const auto& [object, description] : left) {
      ADD_FAILURE() << test.name() << " left behind: " << description;
    }
  }

 private:
  using Objects = std::map<gpointer, std::string>;

  Objects left_behind() const {
    Objects objects = live_objects();
    std::erase_if(objects, [this](const auto& entry) { return before_.count(entry.first) != 0; });
    return objects;
  }

  static Objects live_objects() {
    Objects objects;
    GList* tracers = gst_tracing_get_active_tracers();
    bool found = false;
    for (GList* item = tracers; item != nullptr; item = item->next) {
      if (g_strcmp0(G_OBJECT_TYPE_NAME(item->data), "GstLeaksTracer") != 0) continue;
      found = true;
      add_live_objects(item->data, &objects);
    }
    g_list_free_full(tracers, gst_object_unref);
    if (!found) {
      ADD_FAILURE() << "the leaks tracer is not there: set GST_TRACERS=leaks";
    }
    return objects;
  }

  static void add_live_objects(gpointer tracer, Objects* objects) {
    GstStructure* live = nullptr;
    g_signal_emit_by_name(tracer, "get-live-objects", &live);
    const std::unique_ptr<GstStructure, decltype(&gst_structure_free)> owner(live,
                                                                             gst_structure_free);
    const GValue* list = gst_structure_get_value(live, "live-objects-list");
    for (guint i = 0; list != nullptr && i < gst_value_list_get_size(list); ++i) {
      const GstStructure* entry = gst_value_get_structure(gst_value_list_get_value(list, i));
      const GValue* object = gst_structure_get_value(entry, "object");
      gpointer address =
          G_VALUE_HOLDS_OBJECT(object) ? g_value_get_object(object) : g_value_get_boxed(object);
      objects->emplace(address, G_VALUE_TYPE_NAME(object));
    }
  }

  bool is_looking_ = false;
  Objects before_;
};

}  // namespace gstnpu_test
