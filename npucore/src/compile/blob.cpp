#include "blob.hpp"

#include <array>
#include <utility>

#include <npucore/compiled_model.hpp>
#include <npucore/error.hpp>

#include "base/api.hpp"
#include "base/atomic_file.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "ir/blob_container.hpp"
#include "properties/compiler_options.hpp"

#include "compile_task.hpp"
#include "preflight.hpp"

namespace npu {
namespace {

using base::text;

/// Whole pages, from the start of one to the end of another: a driver may use such memory in place.
std::span<const std::byte> whole_pages(std::span<const std::byte> bytes) {
  return {bytes.data(), base::round_up_to_page(bytes.size())};
}

bool starts_on_page(std::span<const std::byte> bytes) {
  return reinterpret_cast<std::uintptr_t>(bytes.data()) % base::page_size_bytes() == 0;
}

void load_view(CompiledModel::Impl& model, const ir::BlobView& blob, const std::string& title,
               const internal::PortHints& ports, const std::function<void()>& before_weights = {}) {
  ze::GraphSource source;
  source.bytes = blob.native;
  source.profile_layers = internal::wants_layer_times(model.properties.values());
  if (model.device->context()->graph.takes_persistent_blobs() && starts_on_page(blob.native)) {
    source.bytes = whole_pages(blob.native);
    source.bytes_persist = true;
  }
  source.what = text("loading ", title, blob.writer.empty() ? "" : ", written by ", blob.writer);
  const ir::BuiltWith built = internal::built_with(blob, title);
  const DeviceInfo& device = model.device->info;
  base::log(LogLevel::kInfo, text(source.what, ": ", internal::describe_both(built, device)));
  if (!model.properties.values().get(property::disable_version_check)) {
    internal::check_fit(source.what, built, device);
  }
  model.built_with = built;
  try {
    model.load(source, ports, before_weights);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kIncompatible) throw;
    throw Error(error.code(), text(error.what(), "; ", internal::describe_both(built, device)),
                error.driver_log());
  }
}

}  // namespace

namespace internal {

void load_blob(CompiledModel::Impl& model, std::span<const std::byte> memory,
               const std::string& title) {
  const ir::BlobView blob = ir::open_blob(memory, title);
  const ir::BlobDescription description = blob.description.value_or(ir::BlobDescription{});
  model.name = description.model_name;
  model.frame_input = description.frame_input;
  model.model_info = description.model_info;
  load_view(model, blob, title, {description.inputs, description.outputs, description.states});
  model.stats.from = LoadedFrom::kBlob;
}

void load_blob_of(CompiledModel::Impl& model, std::span<const std::byte> memory,
                  const std::string& title, const PortHints& ports,
                  const std::function<void()>& before_weights) {
  load_view(model, ir::open_blob(memory, title), title, ports, before_weights);
}

ExportedBlob export_parts(CompiledModel::Impl& model) {
  ExportedBlob parts;
  parts.session = model.session();
  model.file.check_unchanged();  // the driver may return the blob's own bytes
  parts.native = parts.session->graph.native_binary(parts.copy);
  ir::BlobDescription description;
  description.model_name = model.name;
  description.frame_input = model.frame_input;
  description.model_info = model.model_info;
  description.inputs = model.inputs;
  description.outputs = model.outputs;
  description.built_with = model.built_with;
  for (const auto& variable : model.variables) {
    description.states.push_back({variable.port.name, variable.initial});
  }
  parts.trailer = ir::blob_trailer(parts.native.size(), description,
                                   ze::version_word(model.device->info.compiler));
  return parts;
}

}  // namespace internal

CompiledModel CompiledModel::import(const Device& device, const std::filesystem::path& blob,
                                    const CompileOptions& options) {
  return base::only_errors([&] {
    auto impl = std::make_shared<Impl>(device, options);
    impl->file = base::MappedFile::open(blob);
    internal::load_blob(*impl, impl->file.bytes(), blob.string());
    return CompiledModel(std::move(impl));
  });
}

CompiledModel CompiledModel::import(const Device& device, std::span<const std::byte> blob,
                                    const CompileOptions& options) {
  return base::only_errors([&] {
    auto impl = std::make_shared<Impl>(device, options);
    impl->in_memory = base::PageBuffer::copy_of(blob);
    internal::load_blob(*impl, impl->in_memory.bytes(), "a blob in memory");
    return CompiledModel(std::move(impl));
  });
}

CompiledModel CompiledModel::import(const Device& device, const std::filesystem::path& blob,
                                    const Model& model, const CompileOptions& options) {
  try {
    return import(device, blob, options);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kIncompatible && error.code() != ErrorCode::kInvalidArgument &&
        error.code() != ErrorCode::kNotFound) {
      throw;
    }
    base::log(LogLevel::kWarning,
              text(error.what(), "; ", internal::model_title(model), " is compiled instead"));
  }
  return compile(device, model, options);
}

void CompiledModel::export_blob(const std::filesystem::path& path) const {
  base::only_errors([&] {
    const auto blob = internal::export_parts(base::live(impl_, "CompiledModel"));
    const std::array<std::span<const std::byte>, 2> parts = {blob.native, blob.trailer};
    base::write_file_atomically(path, parts);
  });
}

}  // namespace npu
