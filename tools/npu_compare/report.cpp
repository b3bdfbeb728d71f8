#include "report.hpp"

#include <algorithm>
#include <iomanip>
#include <sstream>

namespace {

using nlohmann::ordered_json;

ordered_json side_json(const Side& side, const npu::DeviceInfo& device) {
  return {{"model", side.model}, {"device", device.name}, {"properties", side.properties}};
}

ordered_json json_of(const Difference& difference) {
  return {{"within_tolerance", difference.is_within_tolerance()},
          {"values", difference.values},
          {"beyond_tolerance", difference.beyond},
          {"largest", difference.largest},
          {"mean", difference.mean},
          {"cosine", difference.cosine},
          {"largest_at",
           {{"frame", difference.frame},
            {"index", difference.index},
            {"value", difference.tested},
            {"reference", difference.reference}}}};
}

ordered_json json_of(const OutputComparison& output) {
  ordered_json json = {{"name", output.tested.name},
                       {"type", npu::to_string(output.tested.type)},
                       {"shape", output.tested.shape},
                       {"reference_name", output.reference.name},
                       {"reference_type", npu::to_string(output.reference.type)},
                       {"reference_shape", output.reference.shape}};
  json.update(json_of(output.difference));
  return json;
}

ordered_json json_of(const AnswerChanges& answers) {
  if (!answers.refusal.empty()) return {{"family", nullptr}, {"refusal", answers.refusal}};
  return {{"family", answers.family},
          {"frames", answers.frames},
          {"changed_frames", answers.changed_frames},
          {"undecoded", answers.undecoded},
          {"objects", answers.objects},
          {"reference_objects", answers.reference_objects},
          {"missing", answers.missing},
          {"added", answers.added},
          {"largest_score_difference", answers.largest_score},
          {"largest_shift_pixels", answers.largest_shift},
          {"lowest_mask_overlap", answers.lowest_mask_overlap},
          {"pixels", answers.pixels},
          {"changed_pixels", answers.changed_pixels},
          {"largest_value_difference", answers.largest_value},
          {"lowest_embedding_cosine", answers.lowest_cosine},
          {"changes", answers.changes}};
}

void write_answers(std::ostream& out, const AnswerChanges& answers) {
  if (!answers.refusal.empty()) {
    out << "  answers    not decoded: " << answers.refusal << '\n';
    return;
  }
  out << "  answers    " << answers.family << ": "
      << (answers.changed_frames == 0 ? "the same" : "CHANGED in ");
  if (answers.changed_frames != 0) {
    out << answers.changed_frames << " of " << answers.frames << " frames";
  }
  out << "; objects " << answers.objects << ", reference " << answers.reference_objects
      << "; scores differ by up to " << answers.largest_score << ", places by "
      << answers.largest_shift << " pixels";
  if (answers.lowest_mask_overlap < 1) {
    out << "; masks overlap by " << answers.lowest_mask_overlap << " or more";
  }
  if (answers.largest_value > 0) {
    out << "; values differ by up to " << answers.largest_value;
  }
  if (answers.lowest_cosine < 1) {
    out << "; cosine of embeddings " << answers.lowest_cosine << " or more";
  }
  out << '\n';
  for (const auto& change : answers.changes) out << "    " << change << '\n';
}

ordered_json json_of(const LayerSearch& layers) {
  ordered_json json = {{"common", layers.common},
                       {"compared", layers.compared},
                       {"not_compared", layers.not_compared},
                       {"only_in_model", layers.only_tested},
                       {"only_in_reference", layers.only_reference},
                       {"first_difference", nullptr}};
  if (const auto& first = layers.first) {
    ordered_json found = {{"name", first->layer.name},
                          {"type", first->layer.type},
                          {"output", first->output.name},
                          {"element_type", npu::to_string(first->output.type)},
                          {"shape", first->output.shape}};
    found.update(json_of(first->difference));
    json["first_difference"] = std::move(found);
  }
  return json;
}

/// Writes the number of names, and the first of them.
void write_names(std::ostream& out, const char* what, const std::vector<std::string>& names) {
  constexpr std::size_t kShown = 10;
  if (names.empty()) return;
  out << "    " << what << " (" << names.size() << "): ";
  for (std::size_t i = 0; i < std::min(names.size(), kShown); ++i) {
    out << (i == 0 ? "" : ", ") << names[i];
  }
  out << (names.size() > kShown ? ", ...\n" : "\n");
}

void write_side(std::ostream& out, const char* what, const Side& side,
                const npu::DeviceInfo& device) {
  out << "  " << what << side.model << " on " << device.name;
  for (const auto& property : side.properties) out << ", " << property;
  out << '\n';
}

/// "[0,1,7]" for a place in the shape [1,2,8].
std::string place_in(const npu::Shape& shape, std::size_t index) {
  npu::Shape place(shape.size());
  for (std::size_t i = shape.size(); i-- > 0;) {
    const auto dimension = static_cast<std::size_t>(shape[i]);
    place[i] = static_cast<std::int64_t>(index % dimension);
    index /= dimension;
  }
  return npu::to_string(place);
}

/// Writes the reference's port only if it differs.
void write_ports(std::ostream& out, const npu::Port& tested, const npu::Port& reference) {
  const auto write = [&out](const npu::Port& port) {
    out << port.name << "  " << npu::to_string(port.type) << npu::to_string(port.shape);
  };
  out << "  output     ";
  write(tested);
  if (tested.name != reference.name || tested.type != reference.type ||
      tested.shape != reference.shape) {
    out << ", reference ";
    write(reference);
  }
  out << '\n';
}

void write_difference(std::ostream& out, const npu::Port& port, const Difference& difference) {
  out << "    " << (difference.is_within_tolerance() ? "equal" : "DIFFERENT")
      << ": largest difference " << difference.largest << ", mean " << difference.mean
      << ", cosine similarity " << std::setprecision(8) << difference.cosine << std::setprecision(6)
      << ", " << difference.beyond << " of " << difference.values
      << " values beyond the tolerance\n";
  if (difference.largest == 0) return;
  out << "    largest in frame " << difference.frame << " at "
      << place_in(port.shape, difference.index) << ": " << difference.tested << ", reference "
      << difference.reference << '\n';
}

void write_layers(std::ostream& out, const LayerSearch& layers) {
  out << "  layers     " << layers.compared << " of " << layers.common << " compared: ";
  if (const auto& first = layers.first) {
    out << "the first that differs is '" << first->layer.name << "' (" << first->layer.type
        << "), output " << first->output.name << "  " << npu::to_string(first->output.type)
        << npu::to_string(first->output.shape) << '\n';
    write_difference(out, first->output, first->difference);
  } else if (layers.compared == 0) {
    out << "nothing is known of where they differ\n";
  } else {
    out << "none differs\n";
  }
  write_names(out, "only in the model", layers.only_tested);
  write_names(out, "only in the reference", layers.only_reference);
  write_names(out, "not compared", layers.not_compared);
}

}  // namespace

ordered_json to_json(const Arguments& arguments, const Comparison& comparison) {
  ordered_json json;
  json["equal"] = comparison.is_equal();
  json["tested"] = side_json(arguments.tested, comparison.tested_device);
  json["reference"] = side_json(arguments.reference, comparison.reference_device);
  json["frames"] = comparison.frames;
  json["seed"] = arguments.seed;
  json["tolerance"] = arguments.tolerance.absolute;
  json["relative_tolerance"] = arguments.tolerance.relative;
  json["outputs"] = ordered_json::array();
  for (const auto& output : comparison.outputs) json["outputs"].push_back(json_of(output));
  json["answers"] = json_of(comparison.answers);
  if (comparison.layers) {
    json["layers"] = json_of(*comparison.layers);
  }
  return json;
}

std::string to_text(const Arguments& arguments, const Comparison& comparison) {
  std::ostringstream out;
  out << (comparison.is_equal() ? "equal" : "DIFFERENT") << " over " << comparison.frames
      << (comparison.frames == 1 ? " frame" : " frames") << ", tolerance "
      << arguments.tolerance.absolute << " + " << arguments.tolerance.relative
      << " of the reference\n";
  write_side(out, "model      ", arguments.tested, comparison.tested_device);
  write_side(out, "reference  ", arguments.reference, comparison.reference_device);
  for (const auto& output : comparison.outputs) {
    write_ports(out, output.tested, output.reference);
    write_difference(out, output.tested, output.difference);
  }
  write_answers(out, comparison.answers);
  if (comparison.layers) {
    write_layers(out, *comparison.layers);
  }
  return out.str();
}
