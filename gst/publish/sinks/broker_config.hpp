#pragma once

#include <string>

#include "sink.hpp"

namespace gstnpu {

/// Reads the entries of broker-config-file (KEY=VALUE in each line, # before remarks) and, behind
/// them, those of broker-config (KEY=VALUE,KEY=VALUE; a comma in a value is written \,). Throws
/// PublishError; messages show no value.
BrokerConfig read_broker_config(const std::string& file, const std::string& property);

}  // namespace gstnpu
