#pragma once

#include <functional>
#include <memory>
#include <npucore/compile_job.hpp>
#include <npucore/device.hpp>
#include <npucore/frame.hpp>
#include <optional>
#include <string>
#include <vector>

#include "plugin/graph.hpp"
#include "plugin/settings.hpp"

namespace gstnpu {

/// What an element runs: graphs for the layouts that frames come in. Used by the streaming thread
/// only, once it is open.
class GraphSource {
 public:
  /// Asked again and again while a compilation goes on; false: nobody waits for it any more.
  using StillWanted = std::function<bool(const npu::CompileProgress&)>;
  /// Around a compilation, which may take long. Throws npu::Error(kCancelled) once it is not
  /// wanted.
  using Compile = std::function<std::shared_ptr<Graph>(const StillWanted&)>;
  using ToldCompile =
      std::function<std::shared_ptr<Graph>(const std::string& what, const Compile&)>;

  virtual ~GraphSource() = default;
  /// The one layout that frames must have; nullopt: any.
  virtual std::optional<npu::FrameLayout> fixed_layout() const = 0;
  /// The graph for frames of `layout`; a compilation goes through `told`. Throws npu::Error.
  virtual std::shared_ptr<Graph> graph_for(const npu::FrameLayout& layout,
                                           const ToldCompile& told) = 0;
  /// The command that makes what fixed_layout() is of for frames of `layout`; empty where any goes.
  virtual std::string command_for(const npu::FrameLayout& layout) const = 0;
  /// What the user should know about the model, one sentence each.
  virtual std::vector<std::string> warnings() const = 0;
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
