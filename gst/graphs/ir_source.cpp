#include <algorithm>
#include <atomic>
#include <cmath>
#include <exception>
#include <list>
#include <map>
#include <mutex>
#include <utility>

#include <npucore/error.hpp>
#include <npucore/model.hpp>
#include <npuvision/model_card.hpp>

#include "common/log.hpp"
#include "frames/frame_description.hpp"

#include "graph_source.hpp"
#include "own_scaling.hpp"
#include "tensor_ids.hpp"

namespace gstnpu {
namespace {

constexpr std::ptrdiff_t kMaxGraphs = 8;  // idle ones
constexpr std::uint32_t kSizeStep = 32;   // of detectors' and text finders' coarsest grids
constexpr float kLeastShare = 0.1F;       // each region's picture becomes 1/share times larger

std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ",") + name;
  return text;
}

bool is_open(std::int64_t size) {
  return size < 0;
}

/// Whether the model's sizes may be the cause of an error. Wrong properties, files and devices have
/// other codes.
bool may_be_of_sizes(npu::ErrorCode code) {
  return code == npu::ErrorCode::kUnsupported || code == npu::ErrorCode::kCompileFailed;
}

std::string advice_of(const npu::Shape& shape, const char* by) {
  return "; input-shape is " + npu::to_string(shape) + by +
         ": set it to sizes that the model takes";
}

npu::Error with(const std::string& advice, const npu::Error& error) {
  return {error.code(), error.what() + advice, error.driver_log()};
}

void reshape(npu::Model& model, const npu::Shape& shape, const std::string& advice) {
  try {
    model.reshape({{model.inputs().front().name, shape}});
  } catch (const npu::Error& error) {
    throw with(advice, error);
  }
}

/// Runs `work`, and adds `advice`, if any, to an error that the sizes may have caused.
template <typename Work>
decltype(auto) with_advice(const std::string& advice, Work&& work) {
  try {
    return work();
  } catch (const npu::Error& error) {
    if (advice.empty() || !may_be_of_sizes(error.code())) throw;
    throw with(advice, error);
  }
}

/// Index of the rows; columns are the next dimension. nullopt where no dimension can be the
/// channels.
std::optional<std::size_t> rows_of(const npu::Shape& shape) {
  const auto are_channels = [&](std::size_t at) { return shape[at] == 1 || shape[at] == 3; };
  if (shape.size() != 4) return std::nullopt;
  if (are_channels(1)) return 2;
  return are_channels(3) ? std::optional<std::size_t>(1) : std::nullopt;
}

/// The model's dimensions that it leaves open, to be set to a frame's size.
class OpenSizes {
 public:
  /// Throws npu::Error for open dimensions that a frame does not determine.
  explicit OpenSizes(const npu::Model& model)
      : input_(model.inputs().front().name), shape_(model.inputs().front().shape) {
    if (!any()) return;
    const auto rows = rows_of(shape_);
    if (!rows) {
      throw npu::Error(npu::ErrorCode::kInvalidArgument,
                       "the input " + input_ + " of " + model.path().string() + " has the shape " +
                           npu::to_string(shape_) +
                           ", and a frame does not tell all its sizes: set input-shape, like "
                           "input-shape=1,3,640,640");
    }
    rows_ = *rows;
  }

  bool any() const { return std::any_of(shape_.begin(), shape_.end(), is_open); }

  /// Sets an open batch to one, open rows and columns to the frame's, rounded up to a multiple of
  /// `step`.
  npu::Shape shape_for(const npu::FrameLayout& frame, std::uint32_t step = 1) const {
    const auto rounded = [step](std::uint32_t side) { return (side + step - 1) / step * step; };
    npu::Shape shape = shape_;
    const auto set = [&](std::size_t at, std::int64_t size) {
      if (is_open(shape[at])) {
        shape[at] = size;
      }
    };
    set(0, 1);
    set(rows_, rounded(frame.height));
    set(rows_ + 1, rounded(frame.width));
    return shape;
  }

 private:
  std::string input_;
  npu::Shape shape_;
  std::size_t rows_ = 2;
};

/// Size of the pictures that the model takes; 0 where the shape leaves it open or is not a
/// picture's.
npu::vision::InputSize size_of(const npu::Shape& shape) {
  if (shape.size() != 4) return {};
  const std::size_t rows = rows_of(shape).value_or(1);
  if (is_open(shape[rows]) || is_open(shape[rows + 1])) return {};
  return {.width = static_cast<std::uint32_t>(shape[rows + 1]),
          .height = static_cast<std::uint32_t>(shape[rows])};
}

/// Refuses a small `share`: objects are scaled to a picture whose middle `share` the model sees.
void check_share(float share, const npu::FrameGeometry& geometry) {
  if (share >= kLeastShare) return;
  const auto before = [share](std::uint32_t side) {
    return std::to_string(std::lround(static_cast<float>(side) / share));
  };
  throw npu::Error(npu::ErrorCode::kInvalidArgument,
                   "the model's card lets the model see less than a tenth of a picture's sides "
                   "(crop_share), so that each object would be scaled to " +
                       before(geometry.model_width) + "x" + before(geometry.model_height) +
                       " pixels: correct the card, or set resize-mode to stretch or letterbox");
}

/// A model and what its card says.
struct Described {
  npu::Model model;
  npu::vision::ModelCard card;
  std::string advice;  ///< added to errors of a shape that is not the model's own
  std::vector<std::string> repairs;
  std::vector<std::string> warnings;
};

void repair(Described& described) {
  const std::vector<std::string> done = described.model.repair();
  if (done.empty()) return;
  described.repairs.insert(described.repairs.end(), done.begin(), done.end());
  // Reads the card again: the model's info now names what was cut off.
  described.card =
      npu::vision::read_model_card(described.model.path(), described.model.model_info());
}

struct WantedShape {
  npu::Shape shape;  ///< empty: the model's own
  const char* by = "";
};

/// The user's shape, else the card's for a model that leaves it open.
WantedShape wanted_shape(const Described& described, const Settings& settings) {
  const npu::Shape shape = parse_shape("input-shape", settings.input_shape);
  if (!shape.empty()) return {shape, ""};
  return {npu::vision::input_shape(described.card, described.model),
          described.model.own_picture_size() ? ", as the graph scales its picture to that"
                                             : ", by the model's card"};
}

bool is_one_picture(const npu::Shape& shape) {
  return !shape.empty() && shape.front() == 1;
}

using Doubts = std::map<std::string, std::string>;

/// One sentence for each step that the graph may do itself, unless a property decides on it.
std::vector<std::string> warnings_of(const Doubts& doubts, bool has_channels, bool has_numbers) {
  std::vector<std::string> warnings;
  for (const auto& [step, doubt] : doubts) {
    if (step == "channels" ? has_channels : has_numbers) continue;
    const char* const property = step == "channels" ? "channel-order (rgb or bgr)"
                                 : step == "scale"  ? "scale (1 where the graph does it)"
                                                    : "mean (0 where the graph does it)";
    warnings.push_back(doubt + ": if answers are wrong, set " + property);
  }
  return warnings;
}

/// Tells what the graph does itself, in place of what the card says.
void note_own_steps(Described& described, const Settings& settings) {
  if (OpenSizes(described.model).any()) return;  // its picture has no size yet
  npu::Preprocess preprocess = described.model.default_preprocess({});
  npu::vision::apply(described.card, &preprocess);
  Doubts doubts;
  with_advice(described.advice, [&] {
    for (std::string& sentence : described.model.leave_out_own_steps(&preprocess, &doubts)) {
      described.repairs.push_back(std::move(sentence));
    }
  });
  described.warnings = warnings_of(doubts, settings.channels.has_value(),
                                   !settings.mean.empty() || !settings.scale.empty());
}

/// Tells that the graph gives its picture another shape than its authors did, and where nothing
/// shows of which picture boxes are pixels.
void note_own_scaling(Described& described, const Settings& settings) {
  const npu::Model& model = described.model;
  const npu::vision::InputSize size = size_of(model.inputs().front().shape);
  if (size.width == 0 || size.height == 0) return;
  const auto add = [&](std::string warning) { described.warnings.push_back(std::move(warning)); };
  if (const auto own = model.own_picture_size()) {
    const npu::FrameGeometry geometry =
        own_scaling(model.model_info(), described.card, size.width, size.height, *own);
    const auto wanted = settings.resize ? settings.resize : described.card.resize;
    for (auto& warning : stretch_warnings(geometry, size.width, size.height, wanted,
                                          "save the model without its own scaling, which "
                                          "npuinfer adds as its card says")) {
      add(std::move(warning));
    }
  } else if (auto doubt = pixel_doubt_of(described.card, model.outputs(), size); !doubt.empty()) {
    add(std::move(doubt));
  }
}

Described read_model(const Settings& settings) {
  npu::Model model = npu::Model::read(settings.model);
  npu::vision::ModelCard card = npu::vision::read_model_card(model.path(), model.model_info());
  Described described{std::move(model), std::move(card), "", {}, {}};
  const WantedShape wanted = wanted_shape(described, settings);
  // First with the inner shapes that reshaping removes: they show more to repair.
  if (settings.repair && is_one_picture(wanted.shape)) {
    repair(described);
  }
  if (!wanted.shape.empty()) {
    described.advice = advice_of(wanted.shape, wanted.by);
    reshape(described.model, wanted.shape, described.advice);
  }
  if (settings.repair) {
    repair(described);
  }
  note_own_steps(described, settings);
  note_own_scaling(described, settings);
  return described;
}

/// An IR's settings, parsed.
struct IrOptions {
  IrOptions(const npu::Device& device, const Settings& settings)
      : resize(settings.resize),
        channels(settings.channels),
        mean(parse_numbers("mean", settings.mean)),
        scale(parse_numbers("scale", settings.scale)),
        compile(compile_options(settings)),
        repair(settings.repair),
        may_have_strides(strides_are_free(device)) {}

  std::optional<npu::ResizeMode> resize;
  std::optional<npu::ChannelOrder> channels;
  std::vector<float> mean, scale;
  npu::CompileOptions compile;
  bool repair;
  bool may_have_strides;

 private:
  /// False where the user has set the strides' option, and for drivers that do not know it.
  bool strides_are_free(const npu::Device& device) const {
    constexpr std::uint32_t kExtensionWithStrides = 16;  // 1.16
    constexpr const char* kOption = npu::property::enable_strides_for.name;
    const npu::Version extension = device.info().graph_extension;
    return (extension.major > 1 || extension.minor >= kExtensionWithStrides) &&
           !compile.properties.is_set(npu::property::enable_strides_for) &&
           compile.config.find(kOption) == compile.config.end();
  }
};

class IrSource final : public GraphSource {
 public:
  IrSource(const npu::Device& device, const Settings& settings)
      : IrSource(device, settings, read_model(settings)) {}
  IrSource(const npu::Device& device, const Settings& settings, Described described)
      : device_(device),
        file_(described.model.path()),
        options_(device, settings),
        repairs_(std::move(described.repairs)),
        warnings_(std::move(described.warnings)),
        model_(std::move(described.model)),
        card_(std::move(described.card)),
        card_text_(card_.to_json()),
        open_sizes_(model_),
        advice_(std::move(described.advice)),
        size_(size_of(model_.inputs().front().shape)),
        ids_(ids_of(file_, card_, model_.outputs(), size_)),
        group_(caps_group_of(ids_, model_.outputs(), size_)),
        one_for_all_strides_(options_.may_have_strides) {
    if (!open_sizes_.any()) {
      model_.check_supported();
    }
  }
  ~IrSource() override {
    for (const auto& pending : pending_) pending->cancel();
  }

  std::optional<npu::FrameLayout> fixed_layout() const override { return std::nullopt; }
  std::string command_for(const npu::FrameLayout&) const override { return {}; }
  const TensorGroup& tensor_group() const override { return group_; }
  std::vector<std::string> warnings() const override {
    std::vector<std::string> warnings = model_.warnings();
    warnings.insert(warnings.end(), warnings_.begin(), warnings_.end());
    return warnings;
  }
  std::vector<std::string> repairs() const override { return repairs_; }
  std::uint64_t compile_ns() const override { return compile_ns_; }

  std::shared_ptr<Graph> find(const npu::FrameLayout& layout) override {
    const std::scoped_lock lock(mutex_);
    // Nearly always the layout of the last frame.
    if (!graphs_.empty() && last_layout_ == layout) return graphs_.front();
    return find_kept(layout);
  }

  /// Abandoned compilations are cancelled only here: after a flush the stream mostly needs the same
  /// graph again.
  std::shared_ptr<Compilation> start(const npu::FrameLayout& layout) override {
    const std::scoped_lock lock(mutex_);
    // Another stream may have got it since find().
    if (auto graph = find_kept(layout)) {
      return std::make_shared<IrCompilation>(*this, layout, std::move(graph));
    }
    const npu::FrameLayout key = key_of(layout);
    const auto begun = std::find_if(pending_.begin(), pending_.end(),
                                    [&](const auto& pending) { return pending->is_for(key); });
    if (begun != pending_.end()) return *begun;
    std::erase_if(pending_, [](const auto& pending) {
      const bool is_wanted = pending.use_count() > 1;
      if (!is_wanted) {
        pending->cancel();
      }
      return !is_wanted;
    });
    return pending_.emplace_back(std::make_shared<IrCompilation>(*this, layout));
  }

  /// Pictures of the model's own size, so that its graph does not scale; the card's size for a
  /// model that leaves it open.
  std::optional<RegionTarget> region_target() override {
    const std::scoped_lock lock(mutex_);
    if (open_sizes_.any() && !(card_.input_width && card_.input_height)) return std::nullopt;
    if (region_refusal_) throw npu::Error(*region_refusal_);
    if (!region_target_) {
      try {
        region_target_ = make_region_target();
      } catch (const npu::Error& error) {
        region_refusal_ = error;
        throw;
      }
    }
    return region_target_;
  }

  void drop_idle_requests() override {
    const std::scoped_lock lock(mutex_);
    for (const auto& graph : graphs_) graph->drop_idle_requests();
  }

 private:
  struct Job {
    npu::FrameInput frame;
    npu::CompileJob job;
    std::string advice;  ///< added to its errors
    std::vector<std::string> repairs;
  };

  /// Compiles a graph for any strides where the driver takes them: it serves every pitch, padding
  /// and even crop. Otherwise compiles for the layout alone. The source's mutex guards its state;
  /// private functions are called with it held.
  class IrCompilation final : public Compilation {
   public:
    IrCompilation(IrSource& source, const npu::FrameLayout& layout)
        : source_(source), layout_(layout), what_(source.text_of(layout)) {
      begin();
    }
    /// A compilation that has ended already, with a graph of the source.
    IrCompilation(IrSource& source, const npu::FrameLayout& layout, std::shared_ptr<Graph> graph)
        : source_(source),
          layout_(layout),
          what_(source.text_of(layout)),
          graph_(std::move(graph)),
          is_kept_(true) {}

    const std::string& what() const override { return what_; }
    npu::CompileProgress progress() const override {
      const std::shared_ptr<Job> job = current_job();
      return job ? job->job.progress() : npu::CompileProgress{};
    }
    std::vector<std::string> repairs() const override {
      const std::scoped_lock lock(source_.mutex_);
      return repairs_;
    }
    bool serves(const npu::FrameLayout& layout) const override {
      const std::scoped_lock lock(source_.mutex_);
      return source_.key_of(layout_) == source_.key_of(layout);
    }

    bool wait(std::chrono::milliseconds timeout) override {
      const std::shared_ptr<Job> job = current_job();
      if (!job) return true;
      if (!job->job.wait(timeout)) return false;
      const std::scoped_lock lock(source_.mutex_);
      if (job == job_) {
        end_job();
      }
      return !job_;
    }

    std::shared_ptr<Graph> get() override {
      const std::scoped_lock lock(source_.mutex_);
      std::erase_if(source_.pending_,
                    [this](const auto& pending) { return pending.get() == this; });
      if (error_) {
        std::rethrow_exception(error_);
      }
      if (!std::exchange(is_kept_, true)) {
        source_.keep(graph_);
      }
      return graph_;
    }

    // Called with the mutex held:
    bool is_for(const npu::FrameLayout& key) const {
      return !error_ && source_.key_of(layout_) == key;
    }
    void cancel() noexcept {
      if (job_) {
        job_->job.cancel();
      }
    }

   private:
    /// Null once the compilation has ended.
    std::shared_ptr<Job> current_job() const {
      const std::scoped_lock lock(source_.mutex_);
      return job_;
    }

    void end_job() {
      const std::shared_ptr<Job> job = std::exchange(job_, nullptr);
      try {
        graph_ = source_.finish(*job);
        const bool is_for_all = source_.one_for_all_strides_ && graph_->takes_any_strides();
        if (with_strides_ && !is_for_all) {
          do_without_strides("the driver compiles no inputs with strides");
        }
      } catch (...) {
        note_error();
      }
    }

    void begin() {
      with_strides_ = source_.one_for_all_strides_;
      try {
        job_ = std::make_shared<Job>(source_.compile(source_.key_of(layout_)));
        repairs_ = job_->repairs;
      } catch (...) {
        note_error();
      }
    }

    /// Called in a catch block.
    void note_error() {
      error_ = std::current_exception();
      try {
        throw;
      } catch (const npu::Error& error) {
        const bool is_of_strides = with_strides_ && error.code() == npu::ErrorCode::kUnsupported;
        if (!is_of_strides && may_be_of_sizes(error.code()) && source_.may_round_sizes(layout_)) {
          GST_CAT_INFO(gstnpu_debug, "sizes are rounded up to 32: %s", error.what());
          source_.rounds_sizes_ = true;
          return begin_anew();
        }
        if (!with_strides_ || error.code() != npu::ErrorCode::kUnsupported) return;
        do_without_strides(error.what());
      } catch (...) {
        return;
      }
    }

    void do_without_strides(const char* why) {
      GST_CAT_INFO(gstnpu_debug, "no graph for all strides: %s", why);
      source_.one_for_all_strides_ = false;
      begin_anew();
    }

    void begin_anew() {
      graph_.reset();
      error_ = nullptr;
      begin();
    }

    IrSource& source_;
    const npu::FrameLayout layout_;
    const std::string what_;
    bool with_strides_ = false;  // a copy: other compilations may change the source's
    std::shared_ptr<Job> job_;   // until graph_ or error_ is set
    std::vector<std::string> repairs_;
    std::shared_ptr<Graph> graph_;
    std::exception_ptr error_;
    bool is_kept_ = false;
  };

  /// Whether the model leaves its sizes open, and has been tried with the frame's only.
  bool may_round_sizes(const npu::FrameLayout& layout) const {
    return open_sizes_.any() && !rounds_sizes_ &&
           open_sizes_.shape_for(layout) != open_sizes_.shape_for(layout, kSizeStep);
  }

  /// The layout that the graph for frames of `layout` is compiled for.
  npu::FrameLayout key_of(const npu::FrameLayout& layout) const {
    return one_for_all_strides_ ? without_padding(layout) : layout;
  }

  std::string text_of(const npu::FrameLayout& layout) const {
    return model_.path().filename().string() + " for " + key_of(layout).describe() +
           (one_for_all_strides_ ? ", any strides" : "");
  }

  /// Adds to `told`, unless null, what the graph does itself, or may do.
  npu::Preprocess preprocess_for(const npu::Model& model, const npu::FrameLayout& layout,
                                 std::vector<std::string>* told = nullptr) const {
    npu::Preprocess preprocess = model.default_preprocess(layout);
    npu::vision::apply(card_, &preprocess);
    Doubts doubts;
    std::vector<std::string> done = model.leave_out_own_steps(&preprocess, &doubts);
    if (told) {
      const bool has_numbers = !options_.mean.empty() || !options_.scale.empty();
      const auto more = warnings_of(doubts, options_.channels.has_value(), has_numbers);
      done.insert(done.end(), more.begin(), more.end());
      told->insert(told->end(), done.begin(), done.end());
    }
    if (options_.resize) {
      preprocess.resize = *options_.resize;
    }
    if (options_.channels) {
      preprocess.channels = *options_.channels;
    }
    if (!options_.mean.empty()) {
      preprocess.mean = options_.mean;
    }
    if (!options_.scale.empty()) {
      preprocess.scale = options_.scale;
    }
    return preprocess;
  }

  RegionTarget make_region_target() const {
    npu::Model model = model_;
    if (open_sizes_.any()) {
      const auto size =
          npu::FrameLayout::tight(npu::PixelFormat::kRGB, *card_.input_width, *card_.input_height);
      const npu::Shape shape = open_sizes_.shape_for(size);
      reshape(model, shape, advice_of(shape, ", by the model's card"));
    }
    const auto any_size = npu::FrameLayout::tight(npu::PixelFormat::kRGB, 64, 64);
    const npu::Preprocess preprocess = preprocess_for(model, any_size);
    with_advice(advice_, [&] { model.add_preprocess(preprocess); });
    const npu::FrameGeometry& geometry = model.frame_input().value().geometry;
    // The graph crops the model's picture out of one that is 1/share times larger.
    const float share = preprocess.resize == npu::ResizeMode::kCrop ? preprocess.crop_share : 1;
    check_share(share, geometry);
    const auto before = [share](std::uint32_t side) {
      return static_cast<std::uint32_t>(std::lround(static_cast<float>(side) / share));
    };
    const auto own_size = npu::FrameLayout::tight(
        npu::PixelFormat::kRGB, before(geometry.model_width), before(geometry.model_height));
    return {default_layout(own_size), preprocess.resize, preprocess.pad_value,
            static_cast<double>(geometry.model_width) / geometry.model_height};
  }

  Job compile(const npu::FrameLayout& layout) const {
    npu::Model model = model_;
    std::string advice = advice_;
    std::vector<std::string> repairs;
    const std::uint32_t step = rounds_sizes_ ? kSizeStep : 1;
    if (open_sizes_.any()) {
      const npu::Shape shape = open_sizes_.shape_for(layout, step);
      advice = advice_of(shape, ", by the frame");
      reshape(model, shape, advice);
      if (options_.repair) {
        repairs = model.repair();
      }
      with_advice(advice, [&] { model.check_supported(); });
    }
    npu::Preprocess preprocess =
        preprocess_for(model, layout, open_sizes_.any() ? &repairs : nullptr);
    if (open_sizes_.any() && rounds_sizes_ && !options_.resize && !card_.resize) {
      preprocess.resize = npu::ResizeMode::kLetterbox;  // a border, and each pixel as it is
    }
    with_advice(advice, [&] { model.add_preprocess(preprocess); });
    npu::FrameInput frame = model.frame_input().value();
    npu::CompileOptions options = options_.compile;
    if (one_for_all_strides_) {
      options.properties.set(npu::property::enable_strides_for, joined(frame.plane_inputs));
    }
    return {std::move(frame), npu::compile_async(device_, model, options), std::move(advice),
            std::move(repairs)};
  }

  std::shared_ptr<Graph> finish(Job& done) {
    npu::CompiledModel compiled = with_advice(done.advice, [&] { return done.job.get(); });
    compile_ns_ += compiled.load_stats().compile_ns + compiled.load_stats().initialize_ns;
    const npu::vision::TensorGroup ids = ids_for(compiled, done.frame.geometry);
    return std::make_shared<Graph>(std::move(compiled), std::move(done.frame), file_, card_text_,
                                   ids);
  }

  /// The open sizes are known by now and may identify the outputs.
  npu::vision::TensorGroup ids_for(const npu::CompiledModel& compiled,
                                   const npu::FrameGeometry& geometry) const {
    if (!open_sizes_.any()) return ids_;
    return ids_of(file_, card_, compiled.outputs(), {geometry.model_width, geometry.model_height});
  }

  std::shared_ptr<Graph> find_kept(const npu::FrameLayout& layout) {
    const npu::FrameLayout key = key_of(layout);
    for (auto graph = graphs_.begin(); graph != graphs_.end(); ++graph) {
      if ((*graph)->layout() != key) continue;
      graphs_.splice(graphs_.begin(), graphs_, graph);
      last_layout_ = layout;
      return graphs_.front();
    }
    return nullptr;
  }

  /// Drops the graph that was idle longest if too many are. Graphs in use stay: streams of many
  /// layouts may share the source.
  void keep(const std::shared_ptr<Graph>& graph) {
    last_layout_.reset();
    graphs_.push_front(graph);
    const auto idle = [](const auto& kept) { return kept.use_count() == 1; };
    if (std::count_if(graphs_.begin(), graphs_.end(), idle) <= kMaxGraphs) return;
    graphs_.erase(std::prev(std::find_if(graphs_.rbegin(), graphs_.rend(), idle).base()));
  }

  const npu::Device device_;
  const std::string file_;
  const IrOptions options_;
  const std::vector<std::string> repairs_, warnings_;
  const npu::Model model_;
  const npu::vision::ModelCard card_;
  const std::string card_text_;
  const OpenSizes open_sizes_;
  const std::string advice_;  // added to errors of a shape that is not the model's own
  const npu::vision::InputSize size_;
  const npu::vision::TensorGroup ids_;
  const TensorGroup group_;
  std::mutex mutex_;           // guards all below
  bool one_for_all_strides_;   // until the driver refuses
  bool rounds_sizes_ = false;  // once it has refused a frame's own size
  std::vector<std::shared_ptr<IrCompilation>> pending_;
  std::list<std::shared_ptr<Graph>> graphs_;     // last used first
  std::optional<npu::FrameLayout> last_layout_;  // of the frames that graphs_.front() serves
  std::optional<RegionTarget> region_target_;    // computed when first asked for
  std::optional<npu::Error> region_refusal_;     // or why that failed
  std::atomic<std::uint64_t> compile_ns_ = 0;    // read by whoever asks for statistics
};

}  // namespace

std::unique_ptr<GraphSource> open_ir(const npu::Device& device, const Settings& settings) {
  return std::make_unique<IrSource>(device, settings);
}

}  // namespace gstnpu
