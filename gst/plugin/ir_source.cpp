#include <chrono>
#include <list>
#include <npucore/error.hpp>
#include <npucore/model.hpp>

#include "plugin/graph_source.hpp"

namespace gstnpu {
namespace {

constexpr std::size_t kMaxGraphs = 8;
// How soon a compilation lets go of a stream that stops.
constexpr std::chrono::milliseconds kLook{20};

class IrSource : public GraphSource {
 public:
  IrSource(const npu::Device& device, const Settings& settings)
      : device_(device),
        settings_(settings),
        mean_(parse_numbers("mean", settings.mean)),
        scale_(parse_numbers("scale", settings.scale)),
        model_(npu::Model::read(settings.model)),
        options_(compile_options(settings)) {
    model_.check_supported();
  }

  std::optional<npu::FrameLayout> fixed_layout() const override { return std::nullopt; }
  std::vector<std::string> warnings() const override { return model_.warnings(); }
  std::uint64_t compile_ns() const override { return compile_ns_; }

  std::shared_ptr<Graph> graph_for(const npu::FrameLayout& layout,
                                   const ToldCompile& told) override {
    for (auto graph = graphs_.begin(); graph != graphs_.end(); ++graph) {
      if ((*graph)->layout() != layout) continue;
      graphs_.splice(graphs_.begin(), graphs_, graph);
      return graphs_.front();
    }
    const std::string what = model_.path().filename().string() + " for " + layout.describe();
    graphs_.push_front(
        told(what, [&](const StillWanted& wanted) { return finish(layout, wanted); }));
    if (graphs_.size() > kMaxGraphs) graphs_.pop_back();
    return graphs_.front();
  }

  void drop_idle_requests() override {
    for (const auto& graph : graphs_) graph->drop_idle_requests();
  }

  ~IrSource() override {
    if (pending_) pending_->job.cancel();
  }

 private:
  struct Pending {
    npu::FrameLayout layout;
    npu::FrameInput frame;
    npu::CompileJob job;
  };

  Pending start(const npu::FrameLayout& layout) const {
    npu::Model model = model_;
    npu::Preprocess preprocess = model.default_preprocess(layout);
    if (settings_.resize) preprocess.resize = *settings_.resize;
    if (settings_.channels) preprocess.channels = *settings_.channels;
    if (!mean_.empty()) preprocess.mean = mean_;
    if (!scale_.empty()) preprocess.scale = scale_;
    model.add_preprocess(preprocess);
    return {layout, model.frame_input().value(), npu::compile_async(device_, model, options_)};
  }

  /// A flush only ends the waiting: what comes after it most often needs the same graph.
  std::shared_ptr<Graph> finish(const npu::FrameLayout& layout, const StillWanted& wanted) {
    if (pending_ && pending_->layout != layout) {
      pending_->job.cancel();
      pending_.reset();
    }
    if (!pending_) pending_ = start(layout);
    while (!pending_->job.wait(kLook)) {
      if (!wanted(pending_->job.progress()))
        throw npu::Error(npu::ErrorCode::kCancelled, "the stream stopped during a compilation");
    }
    Pending done = std::move(*pending_);
    pending_.reset();
    npu::CompiledModel compiled = done.job.get();
    compile_ns_ += compiled.load_stats().compile_ns + compiled.load_stats().initialize_ns;
    return std::make_shared<Graph>(std::move(compiled), std::move(done.frame));
  }

  const npu::Device device_;
  const Settings settings_;
  const std::vector<float> mean_;
  const std::vector<float> scale_;
  npu::Model model_;
  const npu::CompileOptions options_;
  std::optional<Pending> pending_;
  std::list<std::shared_ptr<Graph>> graphs_;  // used last first
  std::uint64_t compile_ns_ = 0;
};

}  // namespace

std::unique_ptr<GraphSource> open_ir(const npu::Device& device, const Settings& settings) {
  return std::make_unique<IrSource>(device, settings);
}

}  // namespace gstnpu
