// The sinks of a plugin that was built without MQTT and Kafka.
#include <gtest/gtest.h>

#include <filesystem>

#include <npucore/error.hpp>

#include "publish/sinks/sink.hpp"
#include "support/temp_dir.hpp"

namespace gstnpu {
namespace {

struct Row {
  const char *name, *location, *said;
};

class WithoutBrokers : public testing::TestWithParam<Row> {};

TEST_P(WithoutBrokers, SaysHowToBuildIt) {
  try {
    make_sink(GetParam().location, {});
    FAIL() << "taken";
  } catch (const npu::Error& error) {
    EXPECT_EQ(error.code(), npu::ErrorCode::kUnsupported);
    EXPECT_NE(std::string(error.what()).find(GetParam().said), std::string::npos) << error.what();
  }
}

INSTANTIATE_TEST_SUITE_P(All, WithoutBrokers,
                         testing::Values(Row{"mqtt", "mqtt://localhost/t",
                                             "libpaho-mqtt-dev and build it with -Dmqtt"},
                                         Row{"mqtts", "mqtts://localhost/t",
                                             "libpaho-mqtt-dev and build it with -Dmqtt"},
                                         Row{"kafka", "kafka://localhost/t",
                                             "librdkafka-dev and build it with -Dkafka"}),
                         [](const auto& row) { return std::string(row.param.name); });

TEST(SinkWithoutBrokers, WritesFiles) {
  const npu::test::TempDir folder;
  const auto path = folder.path() / "out";
  EXPECT_TRUE(make_sink(path.string(), {.flush_always = true})->write("line\n"));
  EXPECT_EQ(std::filesystem::file_size(path), 5U);
}

}  // namespace
}  // namespace gstnpu
