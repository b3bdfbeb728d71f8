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

/// A graph that is being compiled. It goes on when nobody waits for it any more. From any thread.
class Compilation {
 public:
  virtual ~Compilation() = default;
  /// Model and layout, for the user.
  virtual const std::string& what() const = 0;
  /// False when `timeout` passed first. Never throws what the compilation threw.
  virtual bool wait(std::chrono::milliseconds timeout) = 0;
  virtual npu::CompileProgress progress() const = 0;
  /// What was changed in the model for its frames' sizes alone, one sentence each; the rest is
  /// GraphSource::repairs().
  virtual std::vector<std::string> repairs() const = 0;
  /// Whether its graph, or what it throws, is for frames of `layout`.
  virtual bool serves(const npu::FrameLayout& layout) const = 0;
  /// Once it has ended: the graph, which its source finds from then on. Throws what the compilation
  /// threw; the next start() begins anew.
  virtual std::shared_ptr<Graph> get() = 0;
};

/// What elements run: graphs for the layouts that frames come in. From any thread.
class GraphSource {
 public:
  virtual ~GraphSource() = default;
  /// The one layout that frames must have; nullopt: any.
  virtual std::optional<npu::FrameLayout> fixed_layout() const = 0;
  /// The graph for frames of `layout`; null where it has to be compiled first.
  virtual std::shared_ptr<Graph> find(const npu::FrameLayout& layout) = 0;
  /// Begins to compile the graph that find() does not have, or goes on with it where it has begun
  /// already. A compilation that nobody has any more is cancelled then. What fails is told by
  /// Compilation::get(). Null where find() has a graph for every layout.
  virtual std::shared_ptr<Compilation> start(const npu::FrameLayout& layout) = 0;
  /// What parts of frames are scaled to, of any size: one graph then serves them all. nullopt where
  /// the model has no size of its own.
  virtual std::optional<RegionTarget> region_target() = 0;
  /// The command that compiles a fixed layout's model for frames of `layout`; empty where any goes.
  virtual std::string command_for(const npu::FrameLayout& layout) const = 0;
  /// What the outputs are to elements of others, before anything is compiled.
  virtual const TensorGroup& tensor_group() const = 0;
  /// What the user should know about the model, one sentence each.
  virtual std::vector<std::string> warnings() const = 0;
  /// What was changed in it (Model::repair()), one sentence each.
  virtual std::vector<std::string> repairs() const = 0;
  /// Time that all compilations or loads took in the driver.
  virtual std::uint64_t compile_ns() const = 0;
  /// Lets go of frames that idle requests are bound to.
  virtual void drop_idle_requests() = 0;
};

/// An IR, compiled for each layout when it is first seen. Reads and checks the model at once.
std::unique_ptr<GraphSource> open_ir(const npu::Device& device, const Settings& settings);

/// A precompiled blob, loaded at once.
std::unique_ptr<GraphSource> open_blob(const npu::Device& device, const Settings& settings);

/// How frames go into a graph that carries no description, where its inputs tell: one u8 input
/// [1,H,W,3] (RGB) or [1,H,W,1] (GRAY8), or planes named */y and */uv (NV12) or */vu (NV21). Throws
/// npu::Error that tells how to compile a blob with a description.
npu::FrameInput derive_frame_input(const std::vector<npu::Port>& inputs, const std::string& file);

}  // namespace gstnpu
