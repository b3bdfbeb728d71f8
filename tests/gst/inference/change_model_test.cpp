// Models that change while a stream plays. The models give back as many pixels as they are large,
// so that each answer shows whose it is.
#include <gtest/gtest.h>
#include <meta/npumeta.h>

#include <atomic>
#include <utility>

#include <npucore/npucore.hpp>

#include "support/software_npu.hpp"

#include "element_harness.hpp"

namespace gstnpu::test {
namespace {

std::string text_of(const GstStructure* structure, const char* field) {
  const gchar* text = gst_structure_get_string(structure, field);
  return text ? text : "";
}

class ChangeModel : public testing::Test {
 protected:
  std::string model_of(int side) {
    return dir_.write("side" + std::to_string(side) + ".xml", pixels_ir(side, side)).string();
  }
  /// A blob of model_of(side), for frames of `frame` pixels each way.
  std::string blob_of(int side, std::uint32_t frame) {
    npu::Model model = npu::Model::read(model_of(side));
    model.add_preprocess(
        model.default_preprocess(npu::FrameLayout::tight(npu::PixelFormat::kRGB, frame, frame)));
    const std::string path = model_of(side) + std::to_string(frame) + ".blob";
    npu::CompiledModel::compile(npu::Device::open(npu::DeviceKind::kSoftware), model)
        .export_blob(path);
    return path;
  }
  static std::function<void(GstElement*)> with(const std::string& model) {
    return [model](GstElement* element) {
      g_object_set(element, "model", model.c_str(), "device", "software", "properties",
                   "NPUCORE_COMPILE=in-process", nullptr);
    };
  }

  static void set(ElementHarness& harness, const std::string& model) {
    g_object_set(harness.element(), "model", model.c_str(), nullptr);
  }
  static std::string get(ElementHarness& harness) {
    gchar* model = nullptr;
    g_object_get(harness.element(), "model", &model, nullptr);
    const std::string found = model ? model : "";
    g_free(model);
    return found;
  }

  /// One more frame in and out: the file of the model that answered it, whose answer it must be.
  std::string next_model(ElementHarness& harness) {
    BufferRef frame = frame_of("RGB", 8, 8, 55, frames_++);
    gst_buffer_add_video_region_of_interest_meta(frame.get(), "thing", 2, 2, 4, 5);
    EXPECT_EQ(harness.push(std::move(frame)), GST_FLOW_OK);
    const BufferRef out = harness.pull();
    if (!out) return "no frame";
    EXPECT_EQ(GST_BUFFER_PTS(out.get()), gst_util_uint64_scale(frames_ - 1, GST_SECOND, 30));
    const GstNpuInferenceMeta* meta = gst_buffer_get_npu_inference_meta(out.get());
    if (!meta) return "no answer";
    const std::vector<float> pixels = first_tensor(out.get());
    const auto side = static_cast<std::size_t>(meta->model_width);
    EXPECT_EQ(pixels, std::vector<float>(3 * side * side, 55.F));
    EXPECT_TRUE(has(meta->model, "side" + std::to_string(side)));
    return meta->model;
  }

  /// Frames until the element tells how the change ended; null where it never does.
  const GstStructure* frames_until_told(ElementHarness& harness) {
    const auto is_told_after_a_frame = [&] {
      next_model(harness);
      return is_told(harness);
    };
    return soon(is_told_after_a_frame) ? gst_message_get_structure(told_.get()) : nullptr;
  }

  bool is_told(ElementHarness& harness) {
    const ObjectRef<GstBus> bus(gst_element_get_bus(harness.element()));
    for (;;) {
      told_.reset(gst_bus_pop(bus.get()));
      if (!told_) return false;
      if (GST_MESSAGE_TYPE(told_.get()) == GST_MESSAGE_ELEMENT) return true;
      warnings_ += GST_MESSAGE_TYPE(told_.get()) == GST_MESSAGE_WARNING;
      errors_ += GST_MESSAGE_TYPE(told_.get()) == GST_MESSAGE_ERROR;
    }
  }

  struct Unref {
    void operator()(GstMessage* message) const { gst_message_unref(message); }
  };

  TempDir dir_;
  guint64 frames_ = 0;
  std::unique_ptr<GstMessage, Unref> told_;
  int warnings_ = 0, errors_ = 0;
};

TEST_F(ChangeModel, TakesOverBetweenTwoFrames) {
  const std::string first = model_of(8), second = model_of(16);
  ElementHarness harness("npuinfer", with(first), caps_of("RGB", 8, 8));
  EXPECT_EQ(next_model(harness), first);
  set(harness, second);
  const GstStructure* told = frames_until_told(harness);
  ASSERT_NE(told, nullptr);
  EXPECT_STREQ(gst_structure_get_name(told), "npu-model");
  EXPECT_EQ(text_of(told, "model"), second);
  EXPECT_EQ(text_of(told, "previous"), first);
  EXPECT_EQ(next_model(harness), second);
  EXPECT_EQ(get(harness), second);
  EXPECT_EQ(harness.stat("frames"), harness.stat("inferred"));
}

TEST_F(ChangeModel, ServesObjectsToo) {
  const std::string first = model_of(8), second = model_of(16);
  ElementHarness harness("npuinfer", test::with(with(first), {{"inference-region", "roi-list"}}),
                         caps_of("RGB", 8, 8));
  EXPECT_EQ(next_model(harness), first);
  set(harness, second);
  ASSERT_NE(frames_until_told(harness), nullptr);
  EXPECT_EQ(next_model(harness), second);
  EXPECT_EQ(harness.stat("regions"), frames_);
  g_object_set(harness.element(), "object-class", "another", nullptr);
  set(harness, first);
  ASSERT_NE(frames_until_told(harness), nullptr);
  EXPECT_EQ(next_model(harness), "no answer") << "the class is taken up with the model";
}

TEST_F(ChangeModel, GoesByAnActionToo) {
  const std::string second = model_of(16);
  ElementHarness harness("npuinfer", with(model_of(8)), caps_of("RGB", 8, 8));
  g_signal_emit_by_name(harness.element(), "change-model", second.c_str());
  ASSERT_NE(frames_until_told(harness), nullptr);
  EXPECT_EQ(next_model(harness), second);
}

TEST_F(ChangeModel, KeepsTheOldOneWhereTheNewOneCannotBeOpened) {
  const std::string first = model_of(8);
  const std::string missing = (dir_.path() / "missing.xml").string();
  ElementHarness harness("npuinfer", with(first), caps_of("RGB", 8, 8));
  next_model(harness);
  is_told(harness);  // also of the copies
  int told_of = warnings_;
  for (const std::string& wrong :
       {missing, dir_.write("broken.xml", "<net").string(), std::string()}) {
    set(harness, wrong);
    const GstStructure* told = frames_until_told(harness);
    ASSERT_NE(told, nullptr);
    EXPECT_EQ(text_of(told, "wanted"), wrong);
    EXPECT_NE(text_of(told, "error"), "");
    EXPECT_EQ(warnings_, ++told_of);
    EXPECT_EQ(next_model(harness), first);
    EXPECT_EQ(get(harness), first);
  }
  EXPECT_EQ(errors_, 0);
  // And the next stream begins with it.
  gst_element_set_state(harness.element(), GST_STATE_READY);
  EXPECT_EQ(get(harness), first);
}

TEST_F(ChangeModel, TheOneThatWasAskedForLastWins) {
  const std::string last = model_of(32);
  ElementHarness harness("npuinfer", with(model_of(8)), caps_of("RGB", 8, 8));
  next_model(harness);
  set(harness, model_of(16));
  set(harness, last);
  const GstStructure* told = frames_until_told(harness);
  ASSERT_NE(told, nullptr);
  EXPECT_EQ(text_of(told, "model"), last);
  set(harness, last);  // runs already
  EXPECT_EQ(next_model(harness), last);
}

TEST_F(ChangeModel, IsTheNextStreamsWhereTheStreamEndsBefore) {
  const std::string second = model_of(16);
  ElementHarness harness("npuinfer", with(model_of(8)), caps_of("RGB", 8, 8));
  next_model(harness);
  set(harness, second);
  gst_element_set_state(harness.element(), GST_STATE_READY);
  EXPECT_EQ(get(harness), second);
}

// Nothing plays yet that could be changed, and yet it is not forgotten.
TEST_F(ChangeModel, IsTakenUpWhereItComesDuringThePreload) {
  struct Change {
    std::string model;
    bool done = false;
  } change{model_of(16)};
  const auto set_while_compiling = [](GstBus*, GstMessage* message, gpointer data) {
    auto& wanted = *static_cast<Change*>(data);
    if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_PROGRESS && !std::exchange(wanted.done, true)) {
      g_object_set(GST_MESSAGE_SRC(message), "model", wanted.model.c_str(), nullptr);
    }
    return GST_BUS_PASS;
  };
  ElementHarness harness("npuinfer", [&](GstElement* element) {
    with(model_of(8))(element);
    g_object_set(element, "preload", TRUE, nullptr);
    gst_util_set_object_arg(G_OBJECT(element), "inference-region", "roi-list");
    const ObjectRef<GstBus> bus(gst_element_get_bus(element));
    gst_bus_set_sync_handler(bus.get(), set_while_compiling, &change, nullptr);
  });
  EXPECT_TRUE(change.done);
  harness.set_caps(caps_of("RGB", 8, 8));
  ASSERT_NE(frames_until_told(harness), nullptr);
  EXPECT_EQ(text_of(gst_message_get_structure(told_.get()), "model"), change.model);
  EXPECT_EQ(next_model(harness), change.model);
}

TEST_F(ChangeModel, ABlobForOtherFramesIsRefused) {
  const std::string first = blob_of(8, 8), other = blob_of(16, 16), good = blob_of(16, 8);
  ElementHarness harness("npuimport", with(first), caps_of("RGB", 8, 8));
  EXPECT_EQ(next_model(harness), first);
  set(harness, other);
  const GstStructure* told = frames_until_told(harness);
  ASSERT_NE(told, nullptr);
  EXPECT_TRUE(has(text_of(told, "error"), "16x16"));
  EXPECT_EQ(next_model(harness), first);
  EXPECT_EQ(get(harness), first);
  set(harness, good);
  ASSERT_NE(frames_until_told(harness), nullptr);
  EXPECT_EQ(next_model(harness), good);
}

TEST_F(ChangeModel, AHundredTimesUnderLoad) {
  const std::string models[] = {model_of(8), model_of(16)};
  ElementHarness harness("npuinfer", with(models[0]), caps_of("RGB", 8, 8));
  next_model(harness);
  std::uint32_t objects = 0;
  std::size_t threads = 0, descriptors = 0;
  for (int change = 1; change <= 100; ++change) {
    set(harness, models[change % 2]);
    const GstStructure* told = frames_until_told(harness);
    ASSERT_NE(told, nullptr) << change;
    EXPECT_EQ(text_of(told, "model"), models[change % 2]);
    EXPECT_EQ(next_model(harness), models[change % 2]);
    if (change == 10) {
      objects = npu::test::live_driver_objects();
      threads = running_threads();
      descriptors = open_descriptors();
    }
  }
  EXPECT_EQ(harness.stat("frames"), frames_);
  EXPECT_EQ(harness.stat("inferred"), frames_);
  EXPECT_TRUE(npu::test::driver_objects_settle_at(objects))
      << objects << " after ten changes, now " << npu::test::describe_live_objects();
  constexpr std::size_t kStandIn = 1;  // of the fence watch: starts when it is needed
  EXPECT_TRUE(soon([&] { return running_threads() <= threads + kStandIn; }));
  EXPECT_LE(open_descriptors(), descriptors);
}

}  // namespace
}  // namespace gstnpu::test
