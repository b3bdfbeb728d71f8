#include "why.hpp"

#include <functional>
#include <optional>
#include <sstream>

#include <npucore/error.hpp>
#include <npucore/npucore.hpp>

#include "console.hpp"
#include "targets.hpp"

namespace {

using Compile = std::function<void(const npu::Model&)>;

/// Nothing if the compiler takes the model. Other errors are thrown on: a time limit or a lost
/// device says nothing about a layer.
std::optional<npu::Error> refusal(const Compile& compile, const npu::Model& model) {
  try {
    compile(model);
  } catch (const npu::Error& error) {
    using npu::ErrorCode;
    const auto code = error.code();
    if (code != ErrorCode::kCompileFailed && code != ErrorCode::kUnsupported) throw;
    return error;
  }
  return {};
}

/// The compiler's own words, if there are any.
std::string words_of(const npu::Error& error) {
  std::string words = error.driver_log().empty() ? error.what() : error.driver_log();
  words.erase(words.find_last_not_of("\r\n ") + 1);
  return words;
}

/// A layer without which the layers before it are taken, and with which they are not.
struct Found {
  std::size_t place;  ///< in Model::layers()
  npu::Error reason;  ///< why the layers up to this one are refused
};

class Search {
 public:
  Search(const npu::Model& model, const Compile& compile) : model_(model), compile_(compile) {}

  /// Halves the layers between those that are taken and those that are refused. `reason`: why the
  /// whole model is refused.
  Found find(npu::Error reason) const {
    std::size_t taken = 0, refused = count_;
    while (refused - taken > 1) {
      const std::size_t middle = taken + (refused - taken) / 2;
      if (auto why = refusal_of_first(middle)) {
        refused = middle;
        reason = *why;
      } else {
        taken = middle;
      }
    }
    return {refused - 1, std::move(reason)};
  }

 private:
  std::optional<npu::Error> refusal_of_first(std::size_t layers) const {
    npu::Model part = model_;
    part.keep_first(layers);
    const auto why = part.outputs().empty() ? std::nullopt : refusal(compile_, part);
    print("  the first " + std::to_string(layers) + " of " + std::to_string(count_) +
          " layers are " + (why ? "refused\n" : "taken\n"));
    return why;
  }

  const npu::Model& model_;
  const Compile& compile_;
  const std::size_t count_ = model_.layers().size();
};

std::string describe(const std::vector<npu::Port>& ports) {
  std::string text;
  for (const auto& port : ports) {
    text += "  " + std::string(npu::to_string(port.type)) + npu::to_string(port.shape);
  }
  return text;
}

void print_found(const npu::Layer& layer, const Found& found) {
  std::ostringstream out;
  out << "layer     " << layer.name << " (" << layer.type << ")\n"
      << "  place   " << found.place + 1 << ": the layers before it "
      << (found.place == 0 ? "are none" : "are taken") << ", with it they are refused\n"
      << "  input " << describe(layer.inputs) << '\n'
      << "  output" << describe(layer.outputs) << '\n'
      << "  reason  " << words_of(found.reason) << '\n';
  print(out.str());
}

/// Prints where the model is refused, if it is. `by`: for the message.
bool is_refused(const npu::Model& model, const Compile& compile, const std::string& by) {
  const auto reason = refusal(compile, model);
  if (!reason) {
    print(model.path().string() + " compiles for " + by + ": no layer is refused\n");
    return false;
  }
  print(model.path().string() + " is refused for " + by + ": " + reason->what() + '\n');
  const auto layers = model.layers();
  if (!layers.empty()) {
    const Found found = Search(model, compile).find(*reason);
    print_found(layers[found.place], found);
  }
  return true;
}

bool is_refused_by_device(const Arguments& arguments, const npu::Model& model,
                          const npu::CompileOptions& options) {
  const auto device = npu::Device::open(arguments.device);
  const Compile compile = [&](const npu::Model& part) {
    npu::compile_async(device, part, options).get();  // in a helper process: it may crash
  };
  return is_refused(model, compile, device.info().name);
}

bool is_refused_by_target(const Arguments& arguments, const std::string& platform,
                          const npu::Model& model, const npu::CompileOptions& options) {
  const auto target = target_from(arguments, platform);
  const Compile compile = [&](const npu::Model& part) { npu::compile_for(target, part, options); };
  return is_refused(model, compile, "NPU " + platform);
}

}  // namespace

int find_refused_layer(const Arguments& arguments) {
  auto options = options_from(arguments);
  options.properties.set("CACHE_DIR", "");  // parts of a model are of no use later
  const auto model = model_from(arguments);
  model.check_supported();
  bool refused = false;
  for (const auto& platform : arguments.targets) {
    refused |= is_refused_by_target(arguments, platform, model, options);
  }
  if (arguments.targets.empty()) {
    refused = is_refused_by_device(arguments, model, options);
  }
  return refused ? exit_code::kFailed : exit_code::kDone;
}
