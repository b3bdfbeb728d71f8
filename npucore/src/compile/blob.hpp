#pragma once

#include <span>
#include <string>
#include <vector>

#include "model/compiled_model_impl.hpp"

namespace npu::internal {

/// Loads a container of npucore or of OpenVINO, or a bare ELF; `memory` is a mapping that the model
/// owns. The model gets the names and frames that the container describes.
void load_blob(CompiledModel::Impl& model, std::span<const std::byte> memory,
               const std::string& title);
/// Loads a container made from a model with these ports; they name what the container does not.
void load_blob_of(CompiledModel::Impl& model, std::span<const std::byte> memory,
                  const std::string& title, const PortHints& ports,
                  const std::function<void()>& before_weights = {});

/// A compiled model as a file: the driver's blob, and the description behind it.
struct ExportedBlob {
  std::shared_ptr<Session> session;  ///< its graph has the blob
  std::vector<std::byte> copy;       ///< the driver's blob, if the driver gives no view of it
  std::span<const std::byte> native;
  std::vector<std::byte> trailer;
};
ExportedBlob export_parts(CompiledModel::Impl& model);

}  // namespace npu::internal
