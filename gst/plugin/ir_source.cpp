#include <chrono>
#include <list>
#include <npucore/error.hpp>
#include <npucore/model.hpp>

#include "plugin/frame_description.hpp"
#include "plugin/graph_source.hpp"
#include "plugin/log.hpp"

namespace gstnpu {
namespace {

constexpr std::size_t kMaxGraphs = 8;
// How soon a compilation lets go of a stream that stops.
constexpr std::chrono::milliseconds kLook{20};

std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ",") + name;
  return text;
}

class IrSource : public GraphSource {
 public:
  IrSource(const npu::Device& device, const Settings& settings)
      : device_(device),
        settings_(settings),
        mean_(parse_numbers("mean", settings.mean)),
        scale_(parse_numbers("scale", settings.scale)),
        model_(npu::Model::read(settings.model)),
        options_(compile_options(settings)),
        one_for_all_strides_(may_have_strides()) {
    model_.check_supported();
  }

  std::optional<npu::FrameLayout> fixed_layout() const override { return std::nullopt; }
  std::string command_for(const npu::FrameLayout&) const override { return {}; }
  std::vector<std::string> warnings() const override { return model_.warnings(); }
  std::uint64_t compile_ns() const override { return compile_ns_; }

  std::shared_ptr<Graph> graph_for(const npu::FrameLayout& layout,
                                   const ToldCompile& told) override {
    const npu::FrameLayout key = one_for_all_strides_ ? without_padding(layout) : layout;
    for (auto graph = graphs_.begin(); graph != graphs_.end(); ++graph) {
      if ((*graph)->layout() != key) continue;
      graphs_.splice(graphs_.begin(), graphs_, graph);
      return graphs_.front();
    }
    const std::string what = model_.path().filename().string() + " for " + key.describe() +
                             (one_for_all_strides_ ? ", any strides" : "");
    graphs_.push_front(
        told(what, [&](const StillWanted& wanted) { return compiled_for(layout, wanted); }));
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

  /// The user's own word on strides stays as it is.
  bool may_have_strides() const {
    constexpr std::uint32_t kExtensionWithStrides = 16;  // 1.16
    constexpr const char* kOption = npu::property::enable_strides_for.name;
    const npu::Version extension = device_.info().graph_extension;
    return (extension.major > 1 || extension.minor >= kExtensionWithStrides) &&
           !options_.properties.is_set(npu::property::enable_strides_for) &&
           options_.config.find(kOption) == options_.config.end();
  }

  /// With strides that the driver takes, one graph serves every pitch, padding and even crop.
  std::shared_ptr<Graph> compiled_for(const npu::FrameLayout& layout, const StillWanted& wanted) {
    if (one_for_all_strides_) {
      try {
        auto graph = finish(without_padding(layout), wanted);
        if (graph->takes_any_strides()) return graph;
        GST_CAT_INFO(gstnpu_debug, "the driver compiles no inputs with strides");
      } catch (const npu::Error& error) {
        if (error.code() != npu::ErrorCode::kUnsupported) throw;
        GST_CAT_INFO(gstnpu_debug, "no graph for all strides: %s", error.what());
      }
      one_for_all_strides_ = false;
    }
    return finish(layout, wanted);
  }

  Pending start(const npu::FrameLayout& layout) const {
    npu::Model model = model_;
    npu::Preprocess preprocess = model.default_preprocess(layout);
    if (settings_.resize) preprocess.resize = *settings_.resize;
    if (settings_.channels) preprocess.channels = *settings_.channels;
    if (!mean_.empty()) preprocess.mean = mean_;
    if (!scale_.empty()) preprocess.scale = scale_;
    model.add_preprocess(preprocess);
    npu::FrameInput frame = model.frame_input().value();
    npu::CompileOptions options = options_;
    if (one_for_all_strides_)
      options.properties.set(npu::property::enable_strides_for, joined(frame.plane_inputs));
    return {layout, std::move(frame), npu::compile_async(device_, model, options)};
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
  bool one_for_all_strides_;  // until the driver shows that it cannot
  std::optional<Pending> pending_;
  std::list<std::shared_ptr<Graph>> graphs_;  // used last first
  std::uint64_t compile_ns_ = 0;
};

}  // namespace

std::unique_ptr<GraphSource> open_ir(const npu::Device& device, const Settings& settings) {
  return std::make_unique<IrSource>(device, settings);
}

}  // namespace gstnpu
