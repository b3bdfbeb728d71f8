#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <npucore/compiled_model.hpp>
#include <npucore/device.hpp>
#include <npucore/frame.hpp>

#include "frames/region_copy.hpp"
#include "frames/tensor_caps.hpp"

#include "graph.hpp"
#include "settings.hpp"

namespace gstnpu {

/// A graph that is being compiled. Thread-safe.
class Compilation {
 public:
  virtual ~Compilation() = default;
  /// Model and layout, as text for the user.
  virtual const std::string& what() const = 0;
  /// False when `timeout` passed first. Never throws the compilation's error.
  virtual bool wait(std::chrono::milliseconds timeout) = 0;
  virtual npu::CompileProgress progress() const = 0;
  /// Sentences about changes to the model that these frames' sizes required; the others are in
  /// GraphSource::repairs().
  virtual std::vector<std::string> repairs() const = 0;
  /// Whether its graph, or its error, is for frames of `layout`.
  virtual bool serves(const npu::FrameLayout& layout) const = 0;
  /// The graph, once it has ended; its source finds it from then on. Throws the compilation's
  /// error; the next start() then begins again.
  virtual std::shared_ptr<Graph> get() = 0;
};

/// Source of the graphs that an element runs, one for each layout of frames. Thread-safe.
class GraphSource {
 public:
  virtual ~GraphSource() = default;
  /// The only layout that frames may have; nullopt: any.
  virtual std::optional<npu::FrameLayout> fixed_layout() const = 0;
  /// The graph for frames of `layout`; null where it must be compiled first.
  virtual std::shared_ptr<Graph> find(const npu::FrameLayout& layout) = 0;
  /// Begins to compile the graph that find() lacks, or returns the compilation that runs already.
  /// Cancels compilations that nobody holds any more. Errors come from Compilation::get(). Null
  /// where find() has a graph for every layout.
  virtual std::shared_ptr<Compilation> start(const npu::FrameLayout& layout) = 0;
  /// The size that parts of frames are scaled to, so that one graph serves them all. nullopt where
  /// the model has no size of its own.
  virtual std::optional<RegionTarget> region_target() = 0;
  /// The command that compiles a blob for frames of `layout`; empty where any layout will do.
  virtual std::string command_for(const npu::FrameLayout& layout) const = 0;
  /// The outputs by their registered names, known before anything is compiled.
  virtual const TensorGroup& tensor_group() const = 0;
  /// Sentences that the user should read about the model.
  virtual std::vector<std::string> warnings() const = 0;
  /// Sentences about what Model::repair() changed.
  virtual std::vector<std::string> repairs() const = 0;
  /// Total time that the driver took to compile or load.
  virtual std::uint64_t compile_ns() const = 0;
  /// Releases the frames that idle requests are still bound to.
  virtual void drop_idle_requests() = 0;
};

/// Reads and checks an IR at once; compiles it for each layout when that first comes.
std::unique_ptr<GraphSource> open_ir(const npu::Device& device, const Settings& settings);

/// Loads a precompiled blob at once.
std::unique_ptr<GraphSource> open_blob(const npu::Device& device, const Settings& settings);

/// Derives how frames go into a graph without a description from its inputs: one u8 input [1,H,W,3]
/// (RGB) or [1,H,W,1] (GRAY8), or planes named */y and */uv (NV12) or */vu (NV21). Throws
/// npu::Error that tells how to compile a blob with a description.
npu::FrameInput derive_frame_input(const std::vector<npu::Port>& inputs, const std::string& file);

}  // namespace gstnpu
