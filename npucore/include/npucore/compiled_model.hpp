#pragma once

#include <npucore/model.hpp>
#include <npucore/request.hpp>

namespace npu {

/// The phases of a compilation, in order; some may be left out. kCacheLookup: looks in the folder
/// CACHE_DIR, and waits while another process compiles the model. kWaiting: for a helper process,
/// or for another compilation in this process. kSerializing: writes the model for the compiler.
/// kInitializing: loads the weights into the device.
enum class CompilePhase { kCacheLookup, kWaiting, kSerializing, kCompiling, kInitializing, kDone };
NPU_API const char* to_string(CompilePhase phase);  ///< "compiling", ...

struct CompileProgress {
  CompilePhase phase = CompilePhase::kWaiting;
  std::chrono::nanoseconds elapsed{0};  ///< since the call
};

struct CompileOptions {
  Properties properties;  ///< they win over the device's
  /// Options for the driver's compiler, KEY -> VALUE, unchecked; they win over properties.
  std::map<std::string, std::string> config;
  /// Called as each phase begins, in the thread that compiles. May be empty.
  std::function<void(const CompileProgress&)> progress;
  bool replace_cached = false;  ///< compile, and replace an entry that CACHE_DIR has already
};

/// The source of a compiled model's graph: the compiler, the driver's own cache, npucore's cache in
/// the folder CACHE_DIR, or a blob that CompiledModel::import() took.
enum class LoadedFrom { kCompiler, kDriverCache, kCache, kBlob };
NPU_API const char* to_string(LoadedFrom from);  ///< "compiler", "driver cache", ...

struct NPU_API LoadStats {
  LoadedFrom from = LoadedFrom::kCompiler;
  bool loaded_from_driver_cache = false;
  Serializer serializer = Serializer::kAuto;  ///< the one used; kAuto if none was
  std::uint64_t serialized_bytes = 0;         ///< size of the buffer given to the driver
  std::uint64_t compile_ns = 0;               ///< in the driver's graph create, for an IR or a blob
  std::uint64_t initialize_ns = 0;            ///< weights into the device; 0 while deferred
  std::uint64_t load_ns = 0;                  ///< the whole call
  std::uint64_t first_inference_ns = 0;       ///< submit to result, once; 0 before
  /// The log's warnings of the call, without Model::warnings(): nothing was cached, a fallback was
  /// taken.
  std::vector<std::string> warnings;
  /// Load plus first inference (FEIL if the model was compiled, FIL if it was loaded); 0 before it.
  std::uint64_t first_latency_ns() const;
};

/// A graph on a device. Copies share it.
class NPU_API CompiledModel {
 public:
  struct Impl;
  /// Compiles an IR, or takes it from the cache in CACHE_DIR: with CACHE_ID the entry of that id,
  /// without reading the weights. A process runs one call at a time.
  static CompiledModel compile(const Device& device, const Model& model,
                               const CompileOptions& options = {});
  /// Loads the entry that CACHE_ID names in CACHE_DIR, for which no model is read; nothing if there
  /// is none for this device, driver, compiler and these options: then compile() it with the same
  /// options. Throws Error(kInvalidArgument) without id or folder, else as compile() does. Tells no
  /// progress.
  static std::optional<CompiledModel> load_cached(const Device& device,
                                                  const CompileOptions& options);
  /// Loads a precompiled blob: a bare ELF, or a file that npucore or OpenVINO exported. A file of
  /// more than 16 MiB is mapped: replace it by rename. Throws Error(kIncompatible) for a blob of
  /// another device or driver, with the versions of both sides and which to update.
  static CompiledModel import(const Device& device, const std::filesystem::path& blob,
                              const CompileOptions& options = {});
  static CompiledModel import(const Device& device, std::span<const std::byte> blob,
                              const CompileOptions& options = {});
  /// The same; if the blob does not fit, warns and compiles `model` instead.
  static CompiledModel import(const Device& device, const std::filesystem::path& blob,
                              const Model& model, const CompileOptions& options = {});

  const Device& device() const;
  const std::vector<Port>& inputs() const;
  const std::vector<Port>& outputs() const;
  /// Index in inputs(), by name or tensor name. Throws Error(kNotFound) that lists the names.
  std::size_t input_index(const std::string& name) const;
  std::size_t output_index(const std::string& name) const;
  /// Whether its tensors may have strides: NPU_ENABLE_STRIDES_FOR names it, and the driver can.
  bool input_takes_strides(std::size_t index) const;
  /// How frames enter the graph; also known for blobs that npucore wrote.
  const std::optional<FrameInput>& frame_input() const;
  const std::map<std::string, std::string>& model_info() const;
  LoadStats load_stats() const;
  /// True from the loss of the device until a use has loaded the model again.
  bool is_lost() const;

  /// Throws Error(kInvalidArgument), with similar names, for an unknown property.
  std::string get_property(const std::string& name) const;
  template <class T>
  T get_property(Property<T> property) const;
  /// Takes only properties that are PropertyInfo::changeable.
  void set_property(const std::string& name, const std::string& value);
  template <class T>
  void set_property(Property<T> property, const std::type_identity_t<T>& value);
  void set_property(Property<bool> property, const char* value);  ///< "NO" is not true

  std::vector<std::byte> native_binary() const;  ///< the driver's own blob (an ELF) alone
  /// Writes blob and description, atomically. Replaces only a regular file.
  void export_blob(const std::filesystem::path& path) const;
  /// One submission of the request works on `batch` items, 1 to 60: see Request::batch().
  Request create_request(std::size_t batch = 1) const;
  /// The number of requests that keeps the device busy, by platform and PERFORMANCE_HINT.
  std::size_t optimal_number_of_requests() const;

 private:
  friend struct internal::Pimpl;
  explicit CompiledModel(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}
  std::shared_ptr<Impl> impl_;
};

/// A compilation on a thread of its own, in a helper process: several run at once. Copies share it;
/// without cancel() it outlives them all and fills the caches.
class NPU_API CompileJob {
 public:
  struct Impl;
  /// The current phase, and the time since the call. From any thread.
  CompileProgress progress() const;
  /// False when `timeout` passed first. Never throws what the compilation threw.
  bool wait(std::chrono::nanoseconds timeout = std::chrono::nanoseconds::max()) const;
  /// Waits. Throws what the compilation threw, or Error(kCancelled) if cancel() came first.
  CompiledModel get() const;
  /// Kills a helper process. In this process (NPUCORE_COMPILE) the compiler runs on, its result is
  /// dropped, and an exit() meanwhile skips exit handlers. No progress is told once this returns.
  void cancel() noexcept;

 private:
  friend struct internal::Pimpl;
  explicit CompileJob(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}
  std::shared_ptr<Impl> impl_;
};
/// Runs CompiledModel::compile() on a thread, which calls options.progress; returns at once.
NPU_API CompileJob compile_async(const Device& device, const Model& model,
                                 const CompileOptions& options = {});

/// A section of the ELF that a driver's compiler wrote.
struct BlobSection {
  std::string name;
  std::uint32_t type = 0;  ///< sh_type; 1: data, 3: strings, 7: note, 8: no bytes in the file
  std::uint64_t offset = 0, size_bytes = 0;
};
/// The facts that a blob file holds, read without a device. Empty or 0: it does not tell.
struct BlobInfo {
  std::string writer;  ///< "OpenVINO 2026.4.1", "npucore"; empty for a bare ELF
  std::uint64_t file_bytes = 0;
  std::uint64_t native_bytes = 0;  ///< the ELF, with its padding if the file has it
  std::vector<BlobSection> sections;
  std::string platform;  ///< it was built for this platform, with these versions
  Version compiler, elf, runtime;
  std::uint32_t driver_version = 0;
  std::uint32_t tiles = 0;   ///< that it was built for; a device with fewer refuses it
  std::string requirements;  ///< the property RUNTIME_REQUIREMENTS of the model in it
  std::string model_name;    ///< this and the rest: only in blobs that npucore wrote
  std::vector<Port> inputs, outputs;
  std::optional<FrameInput> frame_input;
  std::map<std::string, std::string> model_info;
};
/// Throws Error(kNotFound), Error(kIo), Error(kInvalidArgument) for a file that is no blob or is
/// damaged, and Error(kUnsupported) for a kind of blob that cannot be loaded.
NPU_API BlobInfo read_blob_info(const std::filesystem::path& path);

}  // namespace npu
