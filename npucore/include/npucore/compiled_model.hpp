#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <npucore/device.hpp>
#include <npucore/export.hpp>
#include <npucore/model.hpp>
#include <npucore/properties.hpp>
#include <npucore/request.hpp>
#include <npucore/types.hpp>

namespace npu {

/// What a compilation does, in this order; some are left out.
enum class CompilePhase {
  kCacheLookup,   ///< in the folder CACHE_DIR, also while another process compiles the same model
  kWaiting,       ///< for another compilation of this process
  kSerializing,   ///< the model for the driver
  kCompiling,     ///< in the driver
  kInitializing,  ///< the weights go into the device
  kDone,
};
NPU_API const char* to_string(CompilePhase phase);  ///< "compiling", ...

struct CompileProgress {
  CompilePhase phase = CompilePhase::kWaiting;
  std::chrono::nanoseconds elapsed{0};  ///< since the call
};

struct CompileOptions {
  Properties properties;  ///< over those of the device
  /// Options for the driver's compiler as they are, KEY -> VALUE, unchecked; they win.
  std::map<std::string, std::string> config;
  /// Called as each phase begins, in the thread that compiles. May be empty.
  std::function<void(const CompileProgress&)> progress;
};

/// Where a compiled model's graph came from.
enum class LoadedFrom {
  kCompiler,
  kDriverCache,
  kCache,  ///< npucore's own, in the folder CACHE_DIR
  kBlob,   ///< CompiledModel::import
};
NPU_API const char* to_string(LoadedFrom from);  ///< "compiler", "driver cache", ...

struct LoadStats {
  LoadedFrom from = LoadedFrom::kCompiler;
  bool loaded_from_driver_cache = false;
  /// How the weights went to the compiler; kAuto where none did.
  Serializer serializer = Serializer::kAuto;
  std::uint64_t serialized_bytes = 0;    ///< of the buffer that the driver was given
  std::uint64_t compile_ns = 0;          ///< in the driver's graph create, from an IR or a blob
  std::uint64_t initialize_ns = 0;       ///< weights into the device; 0 while deferred
  std::uint64_t load_ns = 0;             ///< the whole call
  std::uint64_t first_inference_ns = 0;  ///< submit to result, once; 0 before

  /// Load and first inference: FEIL where the model was compiled, FIL where it was loaded. 0 before
  /// the first inference.
  std::uint64_t first_latency_ns() const {
    return first_inference_ns == 0 ? 0 : load_ns + first_inference_ns;
  }
};

namespace internal {
struct CompiledModelState;
}

/// A graph on a device. Copies share it.
class NPU_API CompiledModel {
 public:
  /// Compiles an IR with the driver's compiler, or takes it from the cache in the folder CACHE_DIR.
  /// Compilations are serialised per process.
  static CompiledModel compile(const Device& device, const Model& model,
                               const CompileOptions& options = {});
  /// Loads a precompiled blob: a bare ELF, a file of npucore or one that OpenVINO exported. The
  /// file is mapped. Throws Error(kIncompatible) for one that was made for another device, driver
  /// or firmware, with the versions of both sides and which to update.
  static CompiledModel import(const Device& device, const std::filesystem::path& blob,
                              const CompileOptions& options = {});
  static CompiledModel import(const Device& device, std::span<const std::byte> blob,
                              const CompileOptions& options = {});
  /// The same; a blob that does not fit is left aside with a warning and `model` compiled instead.
  static CompiledModel import(const Device& device, const std::filesystem::path& blob,
                              const Model& model, const CompileOptions& options = {});
  ~CompiledModel();
  CompiledModel(const CompiledModel&);
  CompiledModel(CompiledModel&&) noexcept;
  CompiledModel& operator=(const CompiledModel&);
  CompiledModel& operator=(CompiledModel&&) noexcept;

  const Device& device() const;
  const std::vector<Port>& inputs() const;
  const std::vector<Port>& outputs() const;
  /// Index in inputs() of a name or tensor name. Throws Error(kNotFound) that lists the names there
  /// are.
  std::size_t input_index(const std::string& name) const;
  std::size_t output_index(const std::string& name) const;
  /// Whether tensors of the input may have strides: it was compiled for them
  /// (NPU_ENABLE_STRIDES_FOR), and the driver can.
  bool input_takes_strides(std::size_t index) const;
  /// How frames go in; also restored from a blob that npucore wrote.
  const std::optional<FrameInput>& frame_input() const;
  const std::map<std::string, std::string>& model_info() const;
  LoadStats load_stats() const;

  /// A property's value for this model. Throws Error(kInvalidArgument) with the near names for
  /// an unknown one.
  std::string get_property(const std::string& name) const;
  template <class T>
  T get_property(Property<T> property) const {
    return property_value<T>(get_property(std::string(property.name)));
  }
  /// Only for those that PropertyInfo::changeable tells of.
  void set_property(const std::string& name, const std::string& value);
  template <class T>
  void set_property(Property<T> property, const std::type_identity_t<T>& value) {
    set_property(std::string(property.name), property_text(value));
  }

  /// The driver's own blob (an ELF), without the container's description.
  std::vector<std::byte> native_binary() const;
  /// Writes blob and description, atomically.
  void export_blob(const std::filesystem::path& path) const;

  /// `batch` of 2 and more, up to 60: one submission works on so many items, whose tensors lie one
  /// behind the other in tensors that are so many times as large.
  Request create_request(std::size_t batch = 1) const;
  /// How many requests keep the device busy, by platform and PERFORMANCE_HINT.
  std::size_t optimal_number_of_requests() const;

  const std::shared_ptr<internal::CompiledModelState>& state() const { return state_; }

 private:
  friend class CompileJob;
  explicit CompiledModel(std::shared_ptr<internal::CompiledModelState> state);
  std::shared_ptr<internal::CompiledModelState> state_;
};

}  // namespace npu
