// The plugin runs without the libraries of brokers, and says which one is missing.
#include "gst/hand_made_frames.hpp"
#include "gst/leak_check.hpp"
#include "gst/publish/sinks/child_process.hpp"

namespace {

using namespace gstnpu_test;

[[maybe_unused]] const bool kNeedsTracer = need_tracer(__FILE__);

struct Row {
  const char *name, *location, *file, *package;
};

class MissingLibrary : public testing::TestWithParam<Row> {};

TEST_P(MissingLibrary, IsNamed) {
  const TempFolder folder;
  folder.write(GetParam().file, "");
  PipelineProcess child(std::string("fakesrc ! npupublish location=") + GetParam().location,
                        folder.file("said"), {"LD_LIBRARY_PATH=" + folder.file("")});
  EXPECT_NE(child.wait(), 0);
  const std::string said = folder.read("said");
  if (said.find("this plugin was built without") != std::string::npos) {
    GTEST_SKIP() << "this plugin was built without " << GetParam().name;
  }
  EXPECT_NE(said.find(std::string("cannot load ") + GetParam().file), std::string::npos) << said;
  EXPECT_NE(said.find(std::string("install the package ") + GetParam().package), std::string::npos)
      << said;
}

INSTANTIATE_TEST_SUITE_P(
    All, MissingLibrary,
    testing::Values(Row{"mqtt", "mqtt://localhost/t", "libpaho-mqtt3cs.so.1", "libpaho-mqtt1.3"},
                    Row{"kafka", "kafka://localhost/t", "librdkafka.so.1", "librdkafka1"}),
    [](const auto& row) { return std::string(row.param.name); });

}  // namespace
