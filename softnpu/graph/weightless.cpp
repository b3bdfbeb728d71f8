#include "weightless.hpp"

#include <array>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <openvino/core/type/element_type.hpp>
#include <optional>
#include <pugixml.hpp>
#include <sstream>
#include <string_view>

#include "base/failure.hpp"

namespace softnpu {
namespace {

constexpr std::string_view kPointerAttribute = "WeightsPointerAttribute";

[[noreturn]] void refuse_weightless(const std::string& reason) {
  throw Failure(ZE_RESULT_ERROR_INVALID_ARGUMENT, "weightless IR buffer: " + reason);
}

[[noreturn]] void refuse_weightless_buffer(const std::string& reason) {
  throw Failure(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE, "weightless IR buffer: " + reason);
}

struct Header {
  uint64_t custom_data_offset;
  uint64_t custom_data_size;
  uint64_t constants_offset;
  uint64_t constants_size;
  uint64_t model_offset;
  uint64_t model_size;
};

struct Sections {
  std::span<const std::byte> version;
  std::span<const std::byte> constants;
  std::string_view xml;
};

/// Sections may lie anywhere in the buffer, as in Intel's compiler.
std::span<const std::byte> section(std::span<const std::byte> buffer, uint64_t offset,
                                   uint64_t size, const char* what) {
  if (offset > buffer.size() || size > buffer.size() - offset) {
    refuse_weightless_buffer(std::string(what) + " (" + std::to_string(size) + " bytes at " +
                             std::to_string(offset) + ") is not in it, which has " +
                             std::to_string(buffer.size()) + " bytes");
  }
  return buffer.subspan(offset, size);
}

Sections read_sections(std::span<const std::byte> buffer) {
  Header header{};
  if (buffer.size() < sizeof header) {
    refuse_weightless_buffer("the header has 48 bytes, but there are only " +
                             std::to_string(buffer.size()));
  }
  std::memcpy(&header, buffer.data(), sizeof header);
  Sections sections;
  sections.version =
      section(buffer, header.custom_data_offset, sizeof(CompilerVersion), "the compiler version");
  sections.constants =
      section(buffer, header.constants_offset, header.constants_size, "the constants");
  const auto xml = section(buffer, header.model_offset, header.model_size, "the XML");
  sections.xml = {reinterpret_cast<const char*>(xml.data()), xml.size()};
  return sections;
}

void check_version(std::span<const std::byte> version, CompilerVersion compiler) {
  CompilerVersion written_for{};
  std::memcpy(&written_for.major, version.data(), sizeof written_for.major);
  std::memcpy(&written_for.minor, version.data() + 2, sizeof written_for.minor);
  if (written_for.major != compiler.major || written_for.minor != compiler.minor) {
    refuse_weightless_buffer("Unsupported IR API version! Val: " + written_for.text() +
                             "; this compiler is version " + compiler.text());
  }
}

uint64_t number_of(const pugi::xml_node& node, const char* name, const std::string& layer) {
  const std::string_view text = node.attribute(name).value();
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) {
    refuse_weightless("Const \"" + layer + "\" has " + name + "=\"" + std::string(text) +
                      "\", which is not a number");
  }
  return value;
}

// The bytes of a dense tensor; nothing if the product overflows.
std::optional<uint64_t> bytes_of(const ov::element::Type& type, std::string_view shape) {
  unsigned __int128 elements = 1;
  while (!shape.empty()) {
    const size_t comma = std::min(shape.find(','), shape.size());
    std::string_view word = shape.substr(0, comma);
    word.remove_prefix(std::min(word.find_first_not_of(' '), word.size()));
    while (!word.empty() && word.back() == ' ') word.remove_suffix(1);
    uint64_t size = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), size);
    if (error != std::errc{} || end != word.data() + word.size()) return std::nullopt;
    elements *= size;
    if (elements > UINT64_MAX / 64) return std::nullopt;
    shape.remove_prefix(std::min(comma + 1, shape.size()));
  }
  return static_cast<uint64_t>((elements * type.bitwidth() + 7) / 8);
}

ov::element::Type type_of(const pugi::xml_node& data, const std::string& layer) {
  const std::string name = data.attribute("element_type").value();
  try {
    return ov::element::Type(name);
  } catch (const ov::Exception&) {
    refuse_weightless("Const \"" + layer + "\" has the element type \"" + name + "\"");
  }
}

class Rewriter {
 public:
  explicit Rewriter(std::span<const std::byte> constants)
      : constants_size_(constants.size()), weights_(constants) {}

  // Rewrites every Const of the document, also in the bodies of sub-graphs. Without recursion:
  // nothing bounds the document's depth.
  void rewrite(const pugi::xml_document& document) {
    pugi::xml_node node = document.first_child();
    while (node) {
      if (std::string_view(node.name()) == "layer" &&
          std::string_view(node.attribute("type").value()) == "Const") {
        rewrite_const(node);
      }
      node = following(node);
    }
  }
  Weights take_weights() { return std::move(weights_); }

 private:
  static pugi::xml_node following(pugi::xml_node node) {
    if (node.first_child()) return node.first_child();
    while (node && !node.next_sibling()) node = node.parent();
    return node ? node.next_sibling() : node;
  }

  static pugi::xml_node pointer_of(const pugi::xml_node& layer, const std::string& name) {
    pugi::xml_node found;
    for (const pugi::xml_node& attribute : layer.child("rt_info").children("attribute")) {
      if (attribute.attribute("name").value() != kPointerAttribute) continue;
      if (found || attribute.first_child()) {
        refuse_weightless("Const \"" + name + "\" has more than one address");
      }
      found = attribute;
    }
    return found;
  }

  void rewrite_const(const pugi::xml_node& layer) {
    const std::string name = layer.attribute("name").value();
    pugi::xml_node data = layer.child("data");
    const pugi::xml_node pointer = pointer_of(layer, name);
    const uint64_t offset = number_of(data, "offset", name);
    const uint64_t size = number_of(data, "size", name);
    if (!pointer) {
      if (offset > constants_size_ || size > constants_size_ - offset) {
        refuse_weightless("Const \"" + name + "\" (" + std::to_string(size) + " bytes at " +
                          std::to_string(offset) + ") reaches past the constants, which have " +
                          std::to_string(constants_size_) + " bytes");
      }
      return;
    }
    if (offset != 0 || size != 0) {
      refuse_weightless("Const \"" + name + "\" has an address as well as an offset or size");
    }
    const uint64_t bytes = check_size(data, pointer, name);
    data.attribute("offset").set_value(place(pointer, bytes, name));
    data.attribute("size").set_value(bytes);
    layer.child("rt_info").remove_child(pointer);
  }

  // OpenVINO writes one byte for a constant without elements.
  static uint64_t check_size(const pugi::xml_node& data, const pugi::xml_node& pointer,
                             const std::string& name) {
    const ov::element::Type type = type_of(data, name);
    if (type == ov::element::string) {
      refuse_weightless("Const \"" + name + "\" holds strings, which cannot be passed by address");
    }
    const uint64_t size = number_of(pointer, "ms", name);
    const auto expected = bytes_of(type, data.attribute("shape").value());
    if (expected && *expected == 0 && size <= 1) return 0;
    if (!expected || *expected != size) {
      refuse_weightless("Const \"" + name + "\" of type " + type.to_string() + " and shape \"" +
                        data.attribute("shape").value() + "\" cannot have " + std::to_string(size) +
                        " bytes");
    }
    return size;
  }

  unsigned long long place(const pugi::xml_node& pointer, uint64_t size, const std::string& name) {
    const uint64_t address = number_of(pointer, "mp", name);
    if (size == 0) return 0;
    if (address == 0 || address > UINTPTR_MAX - size) {
      refuse_weightless("Const \"" + name + "\" cannot have " + std::to_string(size) +
                        " bytes at " + std::to_string(address));
    }
    // The format has addresses as text. NOLINTNEXTLINE(performance-no-int-to-ptr)
    const auto* const bytes = reinterpret_cast<const std::byte*>(address);
    return weights_.add_by_address(bytes, size);
  }

  uint64_t constants_size_;
  Weights weights_;
};

}  // namespace

WeightlessIr read_weightless(std::span<const std::byte> buffer, CompilerVersion compiler) {
  const Sections sections = read_sections(buffer);
  check_version(sections.version, compiler);
  pugi::xml_document document;
  const pugi::xml_parse_result parsed = document.load_buffer(
      sections.xml.data(), sections.xml.size(), pugi::parse_default | pugi::parse_ws_pcdata_single);
  if (!parsed) {
    refuse_weightless("the XML is damaged at byte " + std::to_string(parsed.offset) + ": " +
                      parsed.description());
  }
  Rewriter rewriter(sections.constants);
  rewriter.rewrite(document);
  std::ostringstream xml;
  document.save(xml, "", pugi::format_raw);
  return {std::move(xml).str(), rewriter.take_weights()};
}

}  // namespace softnpu
