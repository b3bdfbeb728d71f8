#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "common/properties.hpp"

#include "publisher.hpp"

namespace gstnpu {

enum class PublishFormat { kNpu, kDlstreamer };

/// docs/elements.md describes them.
struct PublishSettings {
  std::string location;
  PublishFormat format = PublishFormat::kNpu;
  bool append = false;
  bool tensors = false;
  std::string stream_id;
  bool wall_clock = false;
  PublishPolicy policy = PublishPolicy::kBlock;
  std::uint32_t queue_size = Publisher::Options().most_lines;
  std::uint32_t drain_time_ms = 1000;
  std::string broker_config, broker_config_file;
};

/// The state that the properties of an npupublish read and write.
class PublishState {
 public:
  virtual ~PublishState() = default;

  PublishSettings settings() const {
    const std::scoped_lock lock(mutex_);
    return settings_;
  }
  void change_settings(const auto& change) {
    const std::scoped_lock lock(mutex_);
    change(settings_);
  }
  virtual Publisher::Stats stats() const = 0;

 private:
  mutable std::mutex mutex_;  // guards settings_
  PublishSettings settings_;
};

std::vector<Property<PublishState>> publish_properties();

}  // namespace gstnpu
