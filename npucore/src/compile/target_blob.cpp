#include <algorithm>
#include <chrono>
#include <utility>

#include <npucore/compiler.hpp>
#include <npucore/error.hpp>

#include "base/api.hpp"
#include "base/text.hpp"
#include "ir/blob_container.hpp"
#include "ir/elf_outputs.hpp"
#include "ir/states.hpp"
#include "ze/npu_device.hpp"
#include "ze/platforms.hpp"

#include "compile_task.hpp"
#include "estimate.hpp"
#include "library_client.hpp"
#include "preflight.hpp"

namespace npu {
namespace internal {
namespace {

using base::text;

/// The facts that a device of the target would give about itself.
DeviceInfo device_of(const CompileTarget& target) {
  const auto* const known = ze::known_platform(target.platform);
  if (!known) {
    throw Error(ErrorCode::kInvalidArgument,
                text("no NPU has the platform ", base::quoted(target.platform), ": use one of ",
                     base::join(ze::platform_names(), ", ")));
  }
  if (target.tiles > known->numTiles) {
    throw Error(ErrorCode::kInvalidArgument,
                text("an NPU of platform ", target.platform, " has at most ", known->numTiles,
                     " tiles, not ", target.tiles));
  }
  DeviceInfo device;
  device.platform = target.platform;
  device.pci_device_id = known->pciDeviceIds[0];
  device.name = "an NPU of platform " + target.platform;
  device.tiles = target.tiles == 0 ? known->numTiles : target.tiles;
  return device;
}

/// The outputs, with the shapes that the compiler found where a reshape left them unknown.
std::vector<Port> outputs_of(const Model& model, std::span<const std::byte> native) {
  auto outputs = model.outputs();
  const auto shapes = ir::elf_output_shapes(native, "the compiler's blob");
  if (outputs.size() != shapes.size()) return outputs;  // the model's variables are among them
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    auto& shape = outputs[i].shape;
    const bool is_known = std::find(shape.begin(), shape.end(), -1) == shape.end();
    if (!is_known && shape.size() == shapes[i].size()) {
      shape = shapes[i];
    }
  }
  return outputs;
}

LibraryClient open_library(const DeviceInfo& device, const Properties& properties) {
  LibraryClient::Options options;
  options.library = compiler_library(properties);
  options.deadline = compile_deadline(properties);
  options.echoes = false;
  return {options, {device.pci_device_id, device.tiles}, nullptr};
}

/// One compilation for an NPU that is not here.
class TargetCompilation {
 public:
  TargetCompilation(const CompileTarget& target, const Model& model, const CompileOptions& options)
      : model_(model),
        properties_(options.properties),
        device_(device_of(target)),
        library_(open_library(device_, properties_)),
        compiler_(compiler_of(library_)),
        config_(compiler_config(compiler_, device_, properties_)) {
    model.check_supported();
    config_.erase(property::platform.name);  // the target says it
    for (const auto& [name, value] : options.config) config_[name] = value;
  }

  TargetBlob compile() {
    // The compiler prints its estimate only at this level.
    config_.try_emplace(property::log_level.name, "LOG_INFO");
    LoadStats stats;
    const CompileTask task = compile_task(model_, compiler_, properties_, config_, stats);
    const LibraryResult made = library_.compile(task);
    stats.serialized_bytes = made.serialized_bytes;
    stats.compile_ns = made.compile_ns;
    const auto native = made.blob.bytes();
    auto outputs = outputs_of(model_, native);
    return {file_of(native, outputs), native.size(), std::move(outputs), stats,
            read_estimate(library_.printed())};
  }

  std::vector<LayerSupport> query() {
    LoadStats stats;
    const CompileTask task = compile_task(model_, compiler_, properties_, config_, stats);
    const auto runs = names_in(library_.query(task));
    std::vector<LayerSupport> layers;
    for (const auto& [name, type] : task.layers) {
      layers.push_back({name, type, runs.count(name) != 0});
    }
    return layers;
  }

 private:
  /// Appends the description, for npucore and OpenVINO, to the ELF.
  std::vector<std::byte> file_of(std::span<const std::byte> native,
                                 const std::vector<Port>& outputs) const {
    ir::BlobDescription description;
    description.model_name = model_.name();
    description.frame_input = model_.frame_input();
    description.model_info = model_.model_info();
    description.inputs = model_.inputs();
    description.outputs = outputs;
    description.states = ir::initial_states(model_);
    description.built_with = built_with({native, {}, {}}, "the compiler's blob");
    description.built_with.platform = device_.platform;
    description.built_with.compiler = {compiler_.version.major, compiler_.version.minor, 0};
    const auto trailer = ir::blob_trailer(native.size(), description,
                                          ze::version_word(description.built_with.compiler));
    std::vector<std::byte> file(native.begin(), native.end());
    file.insert(file.end(), trailer.begin(), trailer.end());
    return file;
  }

  const Model& model_;
  const Properties properties_;
  const DeviceInfo device_;
  LibraryClient library_;
  const Compiler compiler_;
  CompilerConfig config_;
};

}  // namespace
}  // namespace internal

std::vector<std::string> platforms() {
  return base::only_errors(ze::platform_names);
}

CompilerInfo compiler_info(const CompileTarget& target, const Properties& properties) {
  return base::only_errors([&] {
    const auto library = internal::open_library(internal::device_of(target), properties);
    const auto& facts = library.facts();
    const auto& version = facts.version;
    return CompilerInfo{facts.path,           facts.id,
                        facts.interface,      {version.major, version.minor, 0},
                        version.newest_opset, facts.options};
  });
}

TargetBlob compile_for(const CompileTarget& target, const Model& model,
                       const CompileOptions& options) {
  return base::only_errors([&] {
    const auto start = std::chrono::steady_clock::now();
    auto blob = internal::TargetCompilation(target, model, options).compile();
    blob.stats.load_ns = static_cast<std::uint64_t>(
        std::chrono::nanoseconds(std::chrono::steady_clock::now() - start).count());
    return blob;
  });
}

std::vector<LayerSupport> query_supported(const CompileTarget& target, const Model& model,
                                          const CompileOptions& options) {
  return base::only_errors(
      [&] { return internal::TargetCompilation(target, model, options).query(); });
}

}  // namespace npu
