#include "reader.hpp"

#include <algorithm>
#include <array>
#include <string>

#include <npucore/error.hpp>

#include "base/enum_names.hpp"
#include "base/text.hpp"
#include "ir/graph/constant.hpp"
#include "ir/graph/file_kind.hpp"
#include "ir/graph/layer.hpp"
#include "ir/graph/ports.hpp"

#include "preprocess.hpp"

namespace npu::ir {
namespace {

using base::text;

/// Most weights to copy. They are used only while a model is loaded, and an application that
/// compiles in a helper process has little memory to spare for them.
constexpr std::uint64_t kMostCopiedWeights = std::uint64_t{1} << 20;

DataRange usable_range(const Document& document, pugi::xml_node constant) {
  const auto range = data_range(constant);
  if (!range) {
    document.fail(text(describe_layer(constant), " has no usable offset and size"));
  }
  return *range;
}

/// Refuses a constant with fewer bytes than its shape needs: it would be read past its end.
void check_constant_size(const Document& document, pugi::xml_node constant, DataRange range) {
  const auto data = constant.child("data");
  const auto bits =
      bit_width(base::element_type_from_string(data.attribute("element_type").value()));
  const auto shape = parse_shape(data.attribute("shape").value());
  if (bits == 0 || !shape) return;
  unsigned __int128 needed = bits;
  for (const auto dim : *shape) {
    if (dim < 0) {
      document.fail(text(describe_layer(constant), " has a dynamic shape"));
    }
    needed *= static_cast<std::uint64_t>(dim);
    if (needed > UINT64_MAX) break;  // times a dimension, it still fits
  }
  if ((needed + 7) / 8 > range.size_bytes) {
    document.fail(text(describe_layer(constant), " of shape ", to_string(*shape), " has only ",
                       range.size_bytes, " bytes of data"));
  }
}

bool needs_weights(const Document& document) {
  bool needed = false;
  for (auto constant : all_constants(document.net())) {
    const auto range = usable_range(document, constant);
    check_constant_size(document, constant, range);
    needed = needed || range.size_bytes > 0;
  }
  return needed;
}

/// `path`: empty for weights in memory.
void check_ranges(const Document& document, const Weights& weights,
                  const std::filesystem::path& path) {
  for (auto constant : all_constants(document.net())) {
    const auto [offset, size] = usable_range(document, constant);
    if (offset <= weights.size_bytes() && size <= weights.size_bytes() - offset) continue;
    throw Error(
        ErrorCode::kInvalidArgument,
        text("the weights ", path.empty() ? "in memory" : base::quoted(path.string()), " have ",
             weights.size_bytes(), " bytes, but ", describe_layer(constant), " of ",
             document.title(), " needs ", size, " bytes from byte ", offset,
             path.empty() ? ": text and weights do not belong together, or bytes are missing"
                          : ": the two files do not belong together, or the .bin is truncated"));
  }
}

Weights open_weights(const Document& document, const std::filesystem::path& path) {
  try {
    return Weights(base::MappedFile::open(path, kMostCopiedWeights));
  } catch (const Error& error) {
    throw Error(error.code(),
                text("the weights of ", document.title(), " cannot be read: ", error.what()));
  }
}

struct PortCounts {
  const char* type;
  std::size_t least_inputs, most_inputs, least_outputs, most_outputs;
};
// Layers that npucore edits, or whose inputs it looks at: by OpenVINO's opsets 1 to 16.
constexpr std::array kPortCounts{
    PortCounts{"Parameter", 0, 0, 1, 1}, PortCounts{"Result", 1, 1, 0, 1},
    PortCounts{"Const", 0, 0, 1, 1},     PortCounts{"Convert", 1, 1, 1, 1},
    PortCounts{"Identity", 1, 1, 1, 1},  PortCounts{"Interpolate", 2, 4, 1, 1},
    PortCounts{"Broadcast", 2, 3, 1, 1}, PortCounts{"ReadValue", 0, 1, 1, 1},
};

std::string count_text(std::size_t least, std::size_t most, const char* side) {
  if (most == 0) return text("no ", side, " port");
  if (least == 0) return text("at most ", most, ' ', side, " port");
  if (most == 1) return text("one ", side, " port");
  return text(least, " to ", most, ' ', side, " ports");
}

void check_port_count(const Document& document, pugi::xml_node layer, std::size_t count,
                      std::size_t least, std::size_t most, const char* side) {
  if (count >= least && count <= most) return;
  document.fail(
      text(describe_layer(layer), " must have ", count_text(least, most, side), ", not ", count));
}

void check_port_counts(const Document& document) {
  for (auto layer : document.layers()) {
    const auto type = layer_type(layer);
    const auto counts = std::find_if(kPortCounts.begin(), kPortCounts.end(),
                                     [&](const PortCounts& known) { return type == known.type; });
    if (counts == kPortCounts.end()) continue;
    check_port_count(document, layer, input_ports(layer).size(), counts->least_inputs,
                     counts->most_inputs, "input");
    check_port_count(document, layer, output_ports(layer).size(), counts->least_outputs,
                     counts->most_outputs, "output");
  }
  if (document.layers_of_type("Result").empty()) {
    document.fail("it has no output (no layer of type Result)");
  }
}

Document read_document(std::span<const std::byte> text, const std::filesystem::path& file) {
  auto document = Document::parse(text, file.string());
  check_port_counts(document);
  return document;
}

std::shared_ptr<Model::Impl> model_of(const std::filesystem::path& xml, Document document,
                                      Weights weights) {
  std::string name = document.net().attribute("name").value();
  auto inputs = read_inputs(document);
  auto outputs = read_outputs(document);
  auto model_info = read_model_info(document);
  auto model = std::make_shared<Model::Impl>(
      Model::Impl{xml, std::move(name), std::move(document), std::move(weights), std::move(inputs),
                  std::move(outputs), std::move(model_info), std::nullopt, false});
  note_inner_size(*model);
  return model;
}

Weights weights_of(std::span<const std::byte> bytes, std::shared_ptr<const void> owner) {
  if (owner) return {bytes, std::move(owner)};
  auto copy = std::make_shared<const std::vector<std::byte>>(bytes.begin(), bytes.end());
  const std::span<const std::byte> copied(*copy);
  return {copied, std::move(copy)};
}

}  // namespace

std::shared_ptr<Model::Impl> read_ir(const std::filesystem::path& path,
                                     const std::filesystem::path& weights) {
  const auto xml = ir_in(path);
  auto bin = weights;
  if (bin.empty()) {
    bin = std::filesystem::path(xml).replace_extension(".bin");
  }
  auto document = read_document(base::MappedFile::open(xml).bytes(), xml);
  Weights bytes;
  if (needs_weights(document)) {
    bytes = open_weights(document, bin);
  }
  check_ranges(document, bytes, bin);
  return model_of(xml, std::move(document), std::move(bytes));
}

std::shared_ptr<Model::Impl> read_ir(std::string_view xml, std::span<const std::byte> weights,
                                     std::shared_ptr<const void> owner) {
  auto document = read_document(std::as_bytes(std::span(xml)), {});
  Weights bytes;
  if (needs_weights(document)) {
    bytes = weights_of(weights, std::move(owner));
  }
  check_ranges(document, bytes, {});
  return model_of({}, std::move(document), std::move(bytes));
}

}  // namespace npu::ir
