#include "publish/sinks/kafka_sink.hpp"

#include <gtest/gtest.h>

#include "listener.hpp"

namespace gstnpu {
namespace {

using gstnpu_test::Listener;

/// At a broker that takes connections and confirms nothing. An interrupted sink takes what it has
/// room for, and waits for nobody.
TEST(KafkaSink, HasNoMoreThan64LinesOnTheirWay) {
  const Listener broker;
  const auto sink =
      make_kafka_sink("kafka://127.0.0.1:" + std::to_string(broker.port()) + "/lines", {});
  sink->interrupt();
  std::size_t lines = 1;
  while (sink->write("{}\n") && lines < 200) ++lines;
  EXPECT_EQ(lines, 64U) << "with the first one that is not known to be out";
  EXPECT_EQ(sink->held(), lines);
}

}  // namespace
}  // namespace gstnpu
