// Every mistake gives one clear error: the file, the reason, the next step.
#include <gtest/gtest.h>

#include <npucore/device.hpp>

#include "element_harness.hpp"

namespace gstnpu::test {
namespace {

using Prepare = std::string (*)(const TempDir&);  ///< writes files; the model's path

struct Mistake {
  const char* name;
  Prepare model;
  std::vector<std::pair<const char*, const char*>> properties;
  std::vector<const char*> words;  ///< in the error's text
};

class Mistakes : public testing::TestWithParam<Mistake> {
 protected:
  /// The errors of going to READY, and then of one frame where READY worked.
  std::vector<std::string> errors() {
    const Mistake& mistake = GetParam();
    const std::string model = mistake.model ? mistake.model(dir_) : std::string();
    const auto configure = [&](GstElement* element) {
      g_object_set(element, "device", "software", nullptr);
      if (!model.empty()) {
        g_object_set(element, "model", model.c_str(), nullptr);
      }
      for (const auto& [name, value] : mistake.properties) {
        gst_util_set_object_arg(G_OBJECT(element), name, value);
      }
    };
    if (const auto early = errors_before_ready("npuinfer", configure); !early.empty()) return early;
    ElementHarness harness("npuinfer", configure, caps_of("RGB", 8, 8));
    EXPECT_EQ(harness.push(frame_of("RGB", 8, 8, 0)), GST_FLOW_ERROR);
    return harness.messages(GST_MESSAGE_ERROR);
  }
  TempDir dir_;
};

TEST_P(Mistakes, GiveOneClearError) {
  const std::vector<std::string> found = errors();
  ASSERT_EQ(found.size(), 1u);
  for (const char* word : GetParam().words) {
    EXPECT_TRUE(has(found[0], word));
  }
}

std::string good_model(const TempDir& dir) {
  return dir.write("good.xml", pixels_ir(8, 8)).string();
}

/// Adds a constant of the frame's size, so that it takes no other.
std::string offset_model(const TempDir& dir) {
  npu::test::IrWriter ir;
  const auto image = ir.parameter("image", "f32", {1, 3, 8, 8});
  const auto offset = ir.constant("offset", std::vector<float>(3 * 8 * 8), {1, 3, 8, 8});
  ir.result(ir.binary("Add", image, offset));
  return ir.write(dir.path(), "offset").string();
}

INSTANTIATE_TEST_SUITE_P(
    All, Mistakes,
    testing::Values(
        Mistake{"no_model", nullptr, {}, {"no model is set", "set the property \"model\""}},
        Mistake{"missing_file",
                [](const TempDir& dir) { return (dir.path() / "gone.xml").string(); },
                {},
                {"gone.xml", "check the property \"model\""}},
        Mistake{"not_xml",
                [](const TempDir& dir) { return dir.write("text.xml", "not xml").string(); },
                {},
                {"text.xml"}},
        Mistake{"blob",
                [](const TempDir& dir) {
                  return dir
                      .write("net.blob",
                             "\x7f"
                             "ELF and more")
                      .string();
                },
                {},
                {"net.blob", "npuimport"}},
        Mistake{"onnx",
                [](const TempDir& dir) { return dir.write("net.onnx", "\x08\x0a\x3a").string(); },
                {},
                {"net.onnx' is an ONNX model", "pip install openvino; ovc "}},
        Mistake{"cut_off",
                [](const TempDir& dir) {
                  const std::string whole = pixels_ir(8, 8);
                  return dir.write("cut.xml", whole.substr(0, whole.size() / 2)).string();
                },
                {},
                {"cut.xml"}},
        Mistake{"no_weights",
                [](const TempDir& dir) {
                  return dir.write("heavy.xml", npu::test::weighted_ir(8, 8)).string();
                },
                {},
                {"heavy"}},
        Mistake{"open_channels",
                [](const TempDir& dir) {
                  std::string open = npu::test::dynamic_ir(8);
                  for (std::size_t at; (at = open.find("<dim>3<")) != std::string::npos;) {
                    open.replace(at, 7, "<dim>-1<");
                  }
                  open.replace(open.find("1,3,?,8"), 7, "1,?,?,8");
                  return dir.write("dynamic.xml", open).string();
                },
                {},
                {"dynamic.xml", "image", "[1,?,?,8]", "input-shape"}},
        Mistake{"shape_is_no_number",
                good_model,
                {{"input-shape", "1,3,x"}},
                {"input-shape", "\"x\"", "input-shape=1,3,640,640"}},
        Mistake{"shape_of_another_rank",
                good_model,
                {{"input-shape", "1,3"}},
                {"good.xml", "image", "input-shape is [1,3]: set it to sizes"}},
        Mistake{"shape_that_the_model_does_not_take",
                good_model,
                {{"input-shape", "1,4,8,8"}},
                {"good.xml", "input-shape is [1,4,8,8]: set it to sizes"}},
        Mistake{"shape_of_a_batch",
                good_model,
                {{"input-shape", "2,3,8,8"}},
                {"good.xml", "batch", "input-shape is [2,3,8,8]: set it to sizes"}},
        Mistake{"shape_that_does_not_compile",
                offset_model,
                {{"input-shape", "1,3,7,8"}},
                {"offset.xml", "input-shape is [1,3,7,8]: set it to sizes"}},
        Mistake{"unknown_operator",
                [](const TempDir& dir) {
                  return dir.write("odd.xml", npu::test::unknown_operator_ir(8, 8)).string();
                },
                {},
                {"odd.xml", "Frobnicate"}},
        Mistake{"unknown_device", good_model, {{"device", "tpu"}}, {"tpu", "software"}},
        Mistake{"not_an_npu", good_model, {{"device", "CPU"}}, {"'CPU'", "software"}},
        Mistake{"absent_address",
                good_model,
                {{"device", "0000:00:0c.0"}},
                {"'0000:00:0c.0'", "this process can open: Software NPU"}},
        Mistake{"no_npu", good_model, {{"device", "npu"}}, {"NPU"}},
        Mistake{"mean_is_no_number", good_model, {{"mean", "1,x"}}, {"mean", "\"x\""}},
        Mistake{"mean_for_two_channels", good_model, {{"mean", "1,2"}}, {"mean"}},
        Mistake{"unknown_property",
                good_model,
                {{"properties", "NPU_TURB=YES"}},
                {"NPU_TURB", "did you mean NPU_TURBO"}},
        Mistake{
            "config_without_value", good_model, {{"config", "TURBO"}}, {"config", "KEY=VALUE"}}),
    by_name);

// Applications decide by domain and code what to do next.
TEST(Codes, TellAMissingFileFromAWrongSetting) {
  const TempDir dir;
  const std::string gone = (dir.path() / "gone.xml").string(), good = good_model(dir);
  for (const bool is_missing : {true, false}) {
    const ObjectRef<GstElement> element(
        GST_ELEMENT(gst_object_ref_sink(gst_element_factory_make("npuinfer", nullptr))));
    const ObjectRef<GstBus> bus(gst_bus_new());
    gst_element_set_bus(element.get(), bus.get());
    g_object_set(element.get(), "device", "software", "model",
                 is_missing ? gone.c_str() : good.c_str(), "mean", is_missing ? "" : "1,x",
                 nullptr);
    EXPECT_EQ(gst_element_set_state(element.get(), GST_STATE_READY), GST_STATE_CHANGE_FAILURE);
    GstMessage* message = gst_bus_pop_filtered(bus.get(), GST_MESSAGE_ERROR);
    ASSERT_NE(message, nullptr);
    GError* error = nullptr;
    gst_message_parse_error(message, &error, nullptr);
    EXPECT_EQ(error->domain, GST_RESOURCE_ERROR);
    EXPECT_EQ(error->code, is_missing ? GST_RESOURCE_ERROR_NOT_FOUND : GST_RESOURCE_ERROR_SETTINGS)
        << error->message;
    g_error_free(error);
    gst_message_unref(message);
    gst_element_set_state(element.get(), GST_STATE_NULL);
    gst_element_set_bus(element.get(), nullptr);
  }
}

TEST(Recovery, WorksAfterTheModelWasSetRight) {
  const TempDir dir;
  GstElement* element = gst_element_factory_make("npuinfer", nullptr);
  gst_object_ref_sink(element);
  EXPECT_EQ(gst_element_set_state(element, GST_STATE_READY), GST_STATE_CHANGE_FAILURE);
  g_object_set(element, "model", good_model(dir).c_str(), "device", "software", nullptr);
  EXPECT_EQ(gst_element_set_state(element, GST_STATE_READY), GST_STATE_CHANGE_SUCCESS);
  gchar* name = nullptr;
  g_object_get(element, "device-name", &name, nullptr);
  EXPECT_TRUE(g_str_has_prefix(name, "Software NPU")) << name;
  g_free(name);
  gst_element_set_state(element, GST_STATE_NULL);
  gst_object_unref(element);
}

TEST(Devices, AreFoundByTheirAddress) {
  const TempDir dir;
  const ObjectRef<GstElement> element(
      GST_ELEMENT(gst_object_ref_sink(gst_element_factory_make("npuinfer", nullptr))));
  const std::string address = npu::Device::list().at(0).pci_address;
  g_object_set(element.get(), "model", good_model(dir).c_str(), "device", address.c_str(), nullptr);
  EXPECT_EQ(gst_element_set_state(element.get(), GST_STATE_READY), GST_STATE_CHANGE_SUCCESS);
  gst_element_set_state(element.get(), GST_STATE_NULL);
}

TEST(Recovery, TakesAModelThatIsChangedInReady) {
  const TempDir dir;
  ElementHarness harness("npuinfer", [&](GstElement* element) {
    g_object_set(element, "model", good_model(dir).c_str(), "device", "software", nullptr);
    gst_element_set_state(element, GST_STATE_READY);
    const std::string other = dir.write("other.xml", pixels_ir(4, 4)).string();
    g_object_set(element, "model", other.c_str(), nullptr);
  });
  harness.set_caps(caps_of("RGB", 8, 8));
  harness.push(frame_of("RGB", 8, 8, 3));
  EXPECT_EQ(first_tensor(harness.pull().get()).size(), 48u);
}

TEST(Properties, TellThatTheyWaitForAnotherStart) {
  const TempDir dir;
  ElementHarness harness("npuinfer", [&](GstElement* element) {
    g_object_set(element, "model", good_model(dir).c_str(), "device", "software", nullptr);
  });
  g_object_set(harness.element(), "zero-copy", 0, nullptr);
  EXPECT_TRUE(harness.messages(GST_MESSAGE_WARNING).empty()) << "it may change";
  g_object_set(harness.element(), "nireq", 2, nullptr);
  const auto warnings = harness.messages(GST_MESSAGE_WARNING);
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_TRUE(has(warnings[0], "nireq"));
  EXPECT_TRUE(has(warnings[0], "READY"));
}

TEST(AutoDevice, WarnsOnceThatItIsTheSoftwareNpu) {
  const TempDir dir;
  ElementHarness harness("npuinfer", [&](GstElement* element) {
    g_object_set(element, "model", good_model(dir).c_str(), nullptr);
  });
  EXPECT_TRUE(has(harness.only_message(GST_MESSAGE_WARNING), "software NPU"));
}

}  // namespace
}  // namespace gstnpu::test
