// Turns an image into a program: OpenVINO reads the IR, its CPU plugin compiles it.
#pragma once

#include <memory>
#include <mutex>
#include <openvino/runtime/compiled_model.hpp>
#include <set>
#include <string>
#include <vector>

#include "arguments.hpp"
#include "image.hpp"

namespace softnpu {

/// Makes the tables of operators that OpenVINO would otherwise make while it reads the first model.
/// If the process exited during that, they would be destroyed first of all, under the compiling
/// thread.
void prepare_compiler();

/// Reads an IR; its constants refer to the image's weights.
std::shared_ptr<ov::Model> read_model(const BlobParts& parts);

struct CompileOptions {
  bool profiling = false;
};

/// A compiled model, and its inference requests that are idle at the moment.
class Program {
 public:
  /// Throws INVALID_ARGUMENT with the plugin's message.
  Program(std::shared_ptr<const Image> image, const std::shared_ptr<ov::Model>& model,
          const CompileOptions& options);

  ov::InferRequest take_request();
  void give_back(ov::InferRequest request);

  const Image& image() const { return *image_; }

 private:
  std::shared_ptr<const Image> image_;  // outlives the compiled model
  ov::CompiledModel model_;
  std::mutex mutex_;  // guards idle_
  std::vector<ov::InferRequest> idle_;
};

/// The program of an image: a kept one of the same bytes, else a new one. The process keeps the
/// last SOFTNPU_KEEP_COMPILED. An image that borrows a client's memory gets its own program.
std::shared_ptr<Program> program_of(const std::shared_ptr<const Image>& image,
                                    const std::shared_ptr<ov::Model>& model,
                                    const CompileOptions& options);

/// The names of the layers that the CPU plugin takes.
std::set<std::string> supported_layers(const std::shared_ptr<ov::Model>& model);
/// The layers of an IR as a client passes it: "<name>" for each.
std::string list_supported_layers(const ze_graph_desc_2_t& desc);

}  // namespace softnpu
