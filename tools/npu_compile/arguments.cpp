#include "arguments.hpp"

#include <algorithm>

#include <npucore/compiler.hpp>
#include <npucore/error.hpp>

#include "console.hpp"
#include "device_option.hpp"
#include "frame_spec.hpp"
#include "property_options.hpp"
#include "shape_options.hpp"

namespace {

void add_preprocess_options(CLI::App& app, Arguments& arguments) {
  auto* frame = app.add_option(
      "--frame", arguments.frame,
      "make the model take video frames: FORMAT:WIDTHxHEIGHT[:stride=N[,N,N]][:rows=N[,N,N]]"
      "[:crop=LEFT,TOP]; FORMAT is " +
          CLI::detail::join(
              npu::pixel_formats(),
              [](npu::PixelFormat format) { return std::string(npu::to_string(format)); }, ", "));
  const auto add = [&](const char* name, std::string& value, const char* help) {
    return app.add_option(name, value, help)->needs(frame);
  };
  add("--input", arguments.input, "the model's input that takes the picture");
  add("--matrix", arguments.matrix, "bt601, bt709 or bt2020 (default: by the frame's height)");
  add("--range", arguments.range,
      "limited or full (default: limited; full for GRAY8 and GRAY16_LE)");
  add("--resize", arguments.resize,
      "stretch, letterbox, crop or fit-to-window (default: as the model says)");
  add("--mean", arguments.mean, "subtracted from the grey levels, one or one per channel: a,b,c");
  add("--scale", arguments.scale, "then divides the grey levels, one or one per channel: a,b,c");
  add("--channels", arguments.channels, "order that the model expects: rgb or bgr");
  app.add_option("--crop-share", arguments.crop_share,
                 "how much of the middle's sides --resize crop sees, above 0 up to 1")
      ->needs(frame);
  app.add_option("--pad-value", arguments.pad_value, "grey level of letterbox borders, 0..255")
      ->needs(frame);
}

/// Options that are short for a --property.
void add_property_options(CLI::App& app, Arguments& arguments) {
  const auto add = [&](const char* option, const char* property, const std::string& help) {
    return app.add_option_function<std::string>(
        option,
        [&arguments, property](const std::string& value) {
          arguments.named_properties[property] = value;
        },
        help);
  };
  add("--hint", "PERFORMANCE_HINT", "compile for throughput or latency");
  add("--platform", "NPU_PLATFORM",
      "NPU generation to compile for: " + CLI::detail::join(npu::platforms(), ", "));
  add("--tiles", "NPU_TILES", "tiles to compile for (default: by platform and hint)");
  add("--max-tiles", "NPU_MAX_TILES", "tiles that the target has, to compile off the device");
  add("--cache-dir,--cache", "CACHE_DIR", "folder that keeps compiled models for reuse");
  add("--id", "CACHE_ID",
      "compile into the folder of --cache-dir under this name, by which programs find the model "
      "without its files; replaces what has the name; writes a blob only with --output");
  add("--serializer", "NPU_MODEL_SERIALIZER_VERSION",
      "how the weights reach the compiler: AUTO, ALL_WEIGHTS_COPY or NO_WEIGHTS_COPY");
  add("--serializer-threshold", "NPU_SERIALIZATION_WEIGHTS_SIZE_THRESHOLD",
      "with NO_WEIGHTS_COPY: constants of fewer bytes are copied");
  app.add_option("-p,--property", arguments.properties,
                 "a property, KEY=VALUE; repeatable; --list-options shows them")
      ->take_all();
  app.add_option("--config", arguments.config,
                 "an option passed to the compiler unchecked, KEY=VALUE; repeatable")
      ->take_all();
}

void add_target_options(CLI::App& app, Arguments& arguments) {
  app.add_option("--target", arguments.targets,
                 "compile for an NPU that need not be here, with Intel's compiler library; "
                 "several, with commas, each write model.PLATFORM.blob")
      ->delimiter(',')
      ->check(CLI::IsMember(npu::platforms()));
  app.add_flag("--estimate", arguments.estimate,
               "write nothing, and tell what the compiler expects of the model on the target; "
               "without --target on 3720, 4000 and 5010");
}

std::string upper(std::string text) {
  for (auto& c : text) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return text;
}

}  // namespace

std::filesystem::path Arguments::output_path() const {
  if (!output.empty()) return output;
  return std::filesystem::path(model).replace_extension(".blob");
}

std::vector<std::filesystem::path> Arguments::inputs() const {
  return {model, weights.empty() ? std::filesystem::path(model).replace_extension(".bin")
                                 : std::filesystem::path(weights)};
}

void add_options(CLI::App& app, Arguments& arguments) {
  app.add_option("model", arguments.model, "the IR's .xml file");
  app.add_option("-o,--output", arguments.output, "the blob to write (default: model.blob)");
  app.add_option("--weights", arguments.weights, "the IR's weights (default: the .bin beside it)");
  app.add_option("--reshape", arguments.reshape,
                 "an input's shape, set before anything else, NAME=N,N,...; repeatable")
      ->take_all();
  app.add_option("--repair", arguments.repair,
                 "auto: change what NPUs refuse or compute wrongly, and leave to the decoder what "
                 "was cut off; none: compile the model as it is")
      ->check(CLI::IsMember({"auto", "none"}))
      ->capture_default_str();
  add_preprocess_options(app, arguments);
  add_property_options(app, arguments);
  app.add_option("--device", arguments.device, kDeviceNames)
      ->check(device_name())
      ->capture_default_str();
  add_target_options(app, arguments);
  app.add_flag(
      "--raw", arguments.raw,
      "write the driver's bare ELF, without npucore's description and OpenVINO's metadata");
  app.add_flag("--why", arguments.why,
               "write nothing, and find the layer that the compiler refuses: compiles ever "
               "different parts of the model");
  app.add_flag("--list-options", arguments.list_options,
               "show the properties that a compilation takes, and which ones the device's compiler "
               "does not know");
  app.callback([&arguments] {
    if (arguments.model.empty() && !arguments.list_options) throw CLI::RequiredError("model");
    if (arguments.estimate && arguments.targets.empty()) {
      arguments.targets = {"3720", "4000", "5010"};
    }
    if (arguments.has_id() && (arguments.is_for_targets() || arguments.why)) {
      throw CLI::ValidationError("--id",
                                 "keeps what the device's own compiler makes: leave out "
                                 "--target, --estimate and --why");
    }
    if (arguments.targets.size() > 1 && !arguments.output.empty()) {
      throw CLI::ValidationError("--output", "names one blob, but there are several targets");
    }
  });
}

npu::Preprocess preprocess_from(const Arguments& arguments, const npu::Model& model,
                                const npu::vision::ModelCard& card) {
  auto frame = parse_frame_spec(arguments.frame);
  if (!arguments.matrix.empty()) {
    frame.matrix = npu::color_matrix_from_string(arguments.matrix);
  }
  if (!arguments.range.empty()) {
    frame.range = npu::color_range_from_string(arguments.range);
  }
  auto preprocess = model.default_preprocess(frame);
  npu::vision::apply(card, &preprocess);
  preprocess.input = arguments.input;
  std::map<std::string, std::string> doubts;
  for (const auto& sentence : model.leave_out_own_steps(&preprocess, &doubts)) {
    print(arguments.model + ": " + sentence + '\n');
  }
  for (const auto& [step, doubt] : doubts) {
    const bool is_decided = step == "channels"
                                ? !arguments.channels.empty()
                                : !arguments.mean.empty() || !arguments.scale.empty();
    if (is_decided) continue;
    print(arguments.model + ": warning: " + doubt + ": if answers are wrong, set --" + step + '\n');
  }
  if (!arguments.resize.empty()) {
    preprocess.resize = npu::resize_mode_from_string(arguments.resize);
  }
  if (!arguments.mean.empty()) {
    preprocess.mean = parse_numbers("--mean", arguments.mean);
  }
  if (!arguments.scale.empty()) {
    preprocess.scale = parse_numbers("--scale", arguments.scale);
  }
  if (!arguments.channels.empty()) {
    preprocess.channels = npu::channel_order_from_string(upper(arguments.channels));
  }
  if (arguments.crop_share) {
    preprocess.crop_share = *arguments.crop_share;
  }
  if (arguments.pad_value) {
    preprocess.pad_value = *arguments.pad_value;
  }
  return preprocess;
}

/// Gives sizes that are still open the card's values, as npuinfer does.
void reshape_by_card(npu::Model& model) {
  if (model.inputs().empty()) return;
  const auto card = npu::vision::read_model_card(model.path(), model.model_info());
  const npu::Shape shape = npu::vision::input_shape(card, model);
  if (!shape.empty()) {
    model.reshape({{model.inputs().front().name, shape}});
  }
}

/// Whether the shape is a batch of one, with rows, columns and channels in some order.
bool is_one_picture(const std::string& reshape) {
  const std::string shape = reshape.substr(reshape.find('=') + 1);
  return shape.starts_with("1,") && std::count(shape.begin(), shape.end(), ',') == 3;
}

void repair(npu::Model& model, const Arguments& arguments) {
  if (arguments.repair != "auto") return;
  for (const auto& sentence : model.repair()) print(arguments.model + ": " + sentence + '\n');
}

/// Notes for npuimport what a graph that is compiled as it is does with its picture.
void note_picture(npu::Model& model, const npu::vision::ModelCard& card) {
  if (const auto size = model.own_picture_size()) {
    model.set_model_info(npu::vision::kPictureSizeKey,
                         std::to_string(size->first) + "x" + std::to_string(size->second));
  }
  try {
    npu::Preprocess steps = model.default_preprocess({});
    npu::vision::apply(card, &steps);
    model.leave_out_own_steps(&steps);
    if (steps.channels == npu::ChannelOrder::kBGR) {
      model.set_model_info(npu::vision::kChannelsKey, npu::to_string(steps.channels));
    }
  } catch (const npu::Error&) {
    return;  // it takes no picture, or planes of one
  }
}

npu::Model model_from(const Arguments& arguments) {
  auto model = npu::Model::read(arguments.model, arguments.weights);
  // Repair first: the shapes inside, which a reshape drops, show more to repair.
  if (arguments.reshape.size() == 1 && is_one_picture(arguments.reshape.front())) {
    repair(model, arguments);
  }
  reshape(model, arguments.reshape);
  reshape_by_card(model);
  repair(model, arguments);
  const auto card = npu::vision::read_model_card(model.path(), model.model_info());
  if (!card.origins.empty()) {
    model.set_model_info(npu::vision::kCardKey, card.to_json());
  }
  if (!arguments.frame.empty()) {
    model.add_preprocess(preprocess_from(arguments, model, card));
  } else {
    note_picture(model, card);
  }
  return model;
}

npu::CompileOptions options_from(const Arguments& arguments) {
  npu::Properties named;
  for (const auto& [name, value] : arguments.named_properties) named.set(name, value);
  npu::CompileOptions options;
  options.properties = properties_from(arguments.properties).over(named);
  options.replace_cached = arguments.has_id();
  for (const auto& entry : arguments.config) {
    const auto [key, value] = split_key_value("--config", entry);
    options.config[key] = value;
  }
  return options;
}
