#pragma once

#include <string>
#include <utility>
#include <vector>

#include "broker_location.hpp"
#include "kafka_settings.hpp"

namespace gstnpu {

/// The configuration for librdkafka, keys and values in the order in which they are set: the
/// settings' own, the file's, then the property's. A comma in a value of the property is written \,
/// there. Throws npu::Error where settings contradict each other, an entry has no key or one that
/// is not for it, or a file cannot be read.
std::vector<std::pair<std::string, std::string>> read_kafka_config(const BrokerLocation& brokers,
                                                                   const KafkaSettings& settings);

}  // namespace gstnpu
