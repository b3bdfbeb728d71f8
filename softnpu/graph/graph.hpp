#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include <ze_npu/ze_npu.h>

#include "base/live_objects.hpp"
#include "machine/context.hpp"
#include "machine/gem_handle.hpp"
#include "machine/job.hpp"

#include "argument_value.hpp"
#include "arguments.hpp"
#include "build_flags.hpp"
#include "compiler.hpp"
#include "image.hpp"

namespace softnpu {

class ProfilingData;

/// A graph of an IR, which is compiled at once, or of a native binary, which is compiled when it is
/// initialised. Result codes are those of Intel's driver.
class Graph : Counted<Kind::kGraph> {
 public:
  explicit Graph(const ze_graph_desc_2_t& desc);

  const std::vector<Argument>& arguments() const { return arguments_; }
  /// Throws INVALID_ARGUMENT for an index that no argument has.
  const Argument& argument(uint32_t index) const;
  std::span<const std::byte> binary() const { return image_->bytes(); }
  bool profiling() const { return options_.profiling; }
  uint32_t property_flags() const;
  /// A line about the driver's cache, as Intel's driver writes it; empty if the cache was not used.
  const std::string& cache_status() const { return cache_status_; }

  void set_argument(uint32_t index, const void* pointer);
  void set_argument_chain(uint32_t index, const void* chain);
  /// The current arguments, one value for each.
  std::vector<ArgumentValue> values();
  /// Compiles the graph if it is not compiled yet.
  void initialise();
  /// A command that executes the graph with these values. Throws UNINITIALIZED if one of them is
  /// missing, is not memory of `context`, or is too small.
  Command record(Context& context, const std::vector<ArgumentValue>& values,
                 std::shared_ptr<ProfilingData> profile);

 private:
  /// Make the image; return its build flags.
  BuildFlags read(const ze_graph_desc_2_t& desc);
  BuildFlags read_ir(const ze_graph_desc_2_t& desc, std::span<const std::byte> input);
  bool load_from_cache();
  void store_in_cache();
  BuildFlags read_native(const ze_graph_desc_2_t& desc, std::span<const std::byte> input);

  enum class Origin { kCompiled, kCache, kNative };
  Origin origin_ = Origin::kNative;
  bool input_in_use_ = false;  // the image is the client's memory
  std::string cache_status_;
  std::optional<std::string> cache_key_;  // of an IR, if the driver's cache is used
  CompileOptions options_;
  std::shared_ptr<const Image> image_;
  std::vector<Argument> arguments_;

  std::mutex mutex_;                  // guards all below
  std::shared_ptr<ov::Model> model_;  // until it is compiled
  bool initialised_ = false;
  std::shared_ptr<Program> program_;
  std::shared_ptr<const GemHandle> code_;  // of the program's memory
  std::vector<ArgumentValue> values_;      // one for every argument
};

}  // namespace softnpu
