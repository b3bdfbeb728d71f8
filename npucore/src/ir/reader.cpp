#include "ir/reader.hpp"

#include <string>

#include "base/text.hpp"
#include "base/type_names.hpp"
#include "ir/constant.hpp"
#include "ir/layer.hpp"
#include "ir/ports.hpp"
#include "npucore/error.hpp"

namespace npu::ir {
namespace {

using base::text;

[[noreturn]] void fail(const Document& document, const std::string& reason) {
  throw Error(ErrorCode::kInvalidArgument,
              text(base::quoted(document.file()), " is not a readable OpenVINO IR: ", reason));
}

DataRange usable_range(const Document& document, pugi::xml_node constant) {
  const auto range = data_range(constant);
  if (!range) fail(document, text(describe_layer(constant), " has no usable offset and size"));
  return *range;
}

/// A constant whose bytes are fewer than its shape says would be read past its end.
void check_constant_size(const Document& document, pugi::xml_node constant, DataRange range) {
  const auto data = constant.child("data");
  const auto bits =
      bit_width(base::element_type_from_string(data.attribute("element_type").value()));
  const auto shape = parse_shape(data.attribute("shape").value());
  if (bits == 0 || !shape) return;
  unsigned __int128 needed = bits;
  for (const auto dim : *shape) {
    if (dim < 0) fail(document, text(describe_layer(constant), " has a dynamic shape"));
    needed *= static_cast<std::uint64_t>(dim);
    if (needed > (static_cast<unsigned __int128>(1) << 66)) break;
  }
  if ((needed + 7) / 8 > range.size_bytes) {
    fail(document, text(describe_layer(constant), " of shape ", to_string(*shape), " has only ",
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

void check_ranges(const Document& document, const Weights& weights,
                  const std::filesystem::path& path) {
  for (auto constant : all_constants(document.net())) {
    const auto [offset, size] = usable_range(document, constant);
    if (offset <= weights.size_bytes() && size <= weights.size_bytes() - offset) continue;
    throw Error(ErrorCode::kInvalidArgument,
                text("the weights ", base::quoted(path.string()), " have ", weights.size_bytes(),
                     " bytes, but ", describe_layer(constant), " of ",
                     base::quoted(document.file()), " needs ", size, " bytes from byte ", offset,
                     ": the two files do not belong together, or the .bin is cut off"));
  }
}

Weights open_weights(const Document& document, const std::filesystem::path& path) {
  try {
    return Weights(base::MappedFile::open(path));
  } catch (const Error& error) {
    throw Error(error.code(), text("the weights of ", base::quoted(document.file()),
                                   " cannot be read: ", error.what()));
  }
}

void check_inputs_and_outputs(const Document& document) {
  for (auto layer : document.layers_of_type("Parameter")) {
    if (output_ports(layer).size() != 1) {
      fail(document, text(describe_layer(layer), " must have one output port, not ",
                          output_ports(layer).size()));
    }
  }
  const auto results = document.layers_of_type("Result");
  if (results.empty()) fail(document, "it has no output (no layer of type Result)");
  for (auto layer : results) {
    if (input_ports(layer).size() != 1) {
      fail(document, text(describe_layer(layer), " must have one input port, not ",
                          input_ports(layer).size()));
    }
  }
}

Document read_document(const std::filesystem::path& xml) {
  const auto file = base::MappedFile::open(xml);
  auto document = Document::parse(file.bytes(), xml.string());
  check_inputs_and_outputs(document);
  return document;
}

}  // namespace

std::shared_ptr<internal::ModelState> read_ir(const std::filesystem::path& xml,
                                              const std::filesystem::path& weights) {
  auto bin = weights;
  if (bin.empty()) bin = std::filesystem::path(xml).replace_extension(".bin");
  auto document = read_document(xml);
  Weights bytes;
  if (needs_weights(document)) bytes = open_weights(document, bin);
  check_ranges(document, bytes, bin);
  std::string name = document.net().attribute("name").value();
  auto inputs = read_inputs(document);
  auto outputs = read_outputs(document);
  auto model_info = read_model_info(document);
  return std::make_shared<internal::ModelState>(internal::ModelState{
      xml, std::move(name), std::move(document), std::move(bytes), std::move(inputs),
      std::move(outputs), std::move(model_info), std::nullopt, false});
}

}  // namespace npu::ir
