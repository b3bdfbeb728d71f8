#pragma once

#include <span>
#include <string>
#include <vector>

#include "model/compiled_model_impl.hpp"

namespace npu::internal {

/// Loads a container of npucore, or of OpenVINO, or a bare ELF; `memory` is a mapping that the
/// model owns. What the container tells of names and frames goes into the model.
void load_blob(CompiledModel::Impl& model, std::span<const std::byte> memory,
               const std::string& title);
/// Loads a container that was made from a model with these ports, of which it knows the rest.
void load_blob_of(CompiledModel::Impl& model, std::span<const std::byte> memory,
                  const std::string& title, const PortHints& ports,
                  const std::function<void()>& before_weights = {});

/// A compiled model as a file: the driver's blob, and what follows it.
struct ExportedBlob {
  std::shared_ptr<Session> session;  ///< whose graph has the blob
  std::vector<std::byte> copy;       ///< of the driver's blob, where the driver gives no view
  std::span<const std::byte> native;
  std::vector<std::byte> trailer;
};
ExportedBlob export_parts(CompiledModel::Impl& model);

}  // namespace npu::internal
