// The elements' properties as plain values.
#pragma once

#include <atomic>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <npucore/compiled_model.hpp>
#include <npucore/frame.hpp>
#include <npucore/tensor.hpp>

namespace gstnpu {

constexpr unsigned kDefaultRequests = 4;

/// Treatment of a stream whose NPU is lost for good.
enum class OnError { kFail, kPass };

/// Policy for dropping frames instead of waiting.
enum class Drop { kNone, kLate, kBusy };

/// Part of a frame that an inference reads.
enum class InferenceRegion {
  kFullFrame,
  kRoiList,  ///< each object that upstream found
};

/// An atomic value that is copied and compared like a plain one.
template <class Value>
struct Live : std::atomic<Value> {
  using std::atomic<Value>::atomic;
  using std::atomic<Value>::operator=;
  Live(const Live& other) : std::atomic<Value>(other.load()) {}
  Live& operator=(const Live& other) {
    this->store(other.load());
    return *this;
  }
};

/// The settings that may change while a stream plays, from any thread.
struct LiveSettings {
  Live<unsigned> inference_interval = 1;
  Live<unsigned> roi_interval = 1;
  Live<bool> zero_copy_required = false;  ///< an error instead of the first copy
  Live<Drop> drop = Drop::kNone;
  Live<OnError> on_error = OnError::kFail;
  Live<unsigned> stats_interval_ms = 0;  ///< 0: never
  /// Among the streams of a model-instance-id; higher ones come first.
  Live<unsigned> priority = 0;
  bool operator==(const LiveSettings&) const = default;
};

struct Settings : LiveSettings {
  std::string model;              ///< file; empty: not set
  std::string model_instance_id;  ///< elements with the same share the model; empty: none does
  std::string device = "auto";    ///< auto, npu, software, a PCI address, a UUID
  unsigned nireq = 0;             ///< 0: kDefaultRequests
  bool preload = false;           ///< compile before the stream begins; npuinfer only
  /// npuimport only: copy frames that lie otherwise than the blob wants, instead of an error.
  bool converts_layout = false;
  InferenceRegion region = InferenceRegion::kFullFrame;
  bool gives_tensors = false;  ///< other/tensors instead of frames
  std::string object_class;    ///< "LABEL,LABEL"; empty: every object
  std::string config;          ///< "KEY=VALUE,KEY=VALUE" for the driver's compiler
  std::string properties;      ///< npucore's: "KEY=VALUE KEY=VALUE"
  std::string cache_dir;       ///< empty: as the properties say; npuinfer only
  // Override the model's own description of its input; npuinfer only.
  std::optional<npu::ResizeMode> resize;
  std::optional<npu::ChannelOrder> channels;
  std::string mean;         ///< "V" or "V,V,V"; empty: the model's own
  std::string scale;        ///< likewise
  std::string input_shape;  ///< "1,3,640,640"; empty: the model's own, open sizes as the frame's
  bool repair = true;       ///< Model::repair()

  unsigned requests() const { return nireq == 0 ? kDefaultRequests : nireq; }
  /// Whether a model that was opened with these settings serves `other` too. Live values do not
  /// count.
  bool opens_like(const Settings& other) const;
  /// Whether the same graphs serve both settings.
  bool runs_like(const Settings& other) const { return first_difference(other).empty(); }
  /// The first property that prevents runs_like(); empty if none does.
  std::string first_difference(const Settings& other) const;
  bool operator==(const Settings&) const = default;
};

/// Numbers separated by commas or blanks. Throws npu::Error naming the property and the part that
/// is no number.
std::vector<float> parse_numbers(const std::string& property, const std::string& text);

/// Sizes of dimensions, "1,3,640,640" or "[1,3,640,640]". Throws npu::Error likewise.
npu::Shape parse_shape(const std::string& property, const std::string& text);

/// "KEY=VALUE,KEY=VALUE". Throws npu::Error naming the part without "=".
std::map<std::string, std::string> parse_config(const std::string& text);

/// Combines config, properties and cache_dir. Throws npu::Error that names the wrong part.
npu::CompileOptions compile_options(const Settings& settings);

}  // namespace gstnpu
