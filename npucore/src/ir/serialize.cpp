#include "ir/serialize.hpp"

#include <algorithm>
#include <concepts>

#include "base/text.hpp"
#include "ir/model_state.hpp"

namespace npu::ir {
namespace {

constexpr std::uint32_t kElements = 2;  // XML and weights

class Writer {
 public:
  explicit Writer(std::byte* place) : place_(place) {}

  template <std::unsigned_integral T>
  void number(T value) {
    for (std::size_t i = 0; i < sizeof(T); ++i) {
      *place_++ = static_cast<std::byte>(value >> (8 * i) & 0xff);
    }
  }
  void bytes(std::span<const std::byte> source) {
    place_ = std::copy(source.begin(), source.end(), place_);
  }
  std::byte* place() const { return place_; }

 private:
  std::byte* place_;
};

void set_flag(pugi::xml_node rt_info, const char* name) {
  auto flag = rt_info.child(name);
  if (!flag) flag = rt_info.append_child(name);
  flag.remove_attributes();
  flag.append_attribute("value").set_value("YES");
}

/// Since 5.9 the compiler knows arguments by their index, if the model says so.
bool knows_indices(CompilerVersion version) {
  return version.major > 5 || (version.major == 5 && version.minor >= 9);
}

std::string xml_text(const Document& original, CompilerVersion version) {
  struct TextWriter : pugi::xml_writer {
    std::string text;
    void write(const void* data, std::size_t size) override {
      text.append(static_cast<const char*>(data), size);
    }
  };
  pugi::xml_document copy;
  auto net = copy.append_copy(original.net());
  auto rt_info = net.child("rt_info");
  if (!rt_info) rt_info = net.append_child("rt_info");
  set_flag(rt_info, "is_new_api");
  if (knows_indices(version)) set_flag(rt_info, "use_indices_for_io_metadata");
  TextWriter writer;
  copy.save(writer, "", pugi::format_raw, pugi::encoding_utf8);
  writer.text += '\n';
  return std::move(writer.text);
}

std::vector<FlagPort> to_flag_ports(const std::vector<Port>& ports) {
  std::vector<FlagPort> flags;
  flags.reserve(ports.size());
  for (const auto& port : ports) flags.push_back({port.name, port.type, port.shape.size()});
  return flags;
}

}  // namespace

SerializedModel serialize(const Model& model, CompilerVersion version) {
  const auto& state = *model.state();
  const auto xml = xml_text(state.document, version);
  const auto weights_size = state.weights.size_bytes();
  constexpr std::size_t kFixedBytes = 24;
  const auto size = kFixedBytes + xml.size() + weights_size;
  // Not zeroed first: a large model would touch every page twice.
  auto memory = std::make_unique_for_overwrite<std::byte[]>(size);
  Writer writer(memory.get());
  writer.number(version.major);
  writer.number(version.minor);
  writer.number(kElements);
  writer.number(std::uint64_t{xml.size()});
  writer.bytes(std::as_bytes(std::span(xml)));
  writer.number(std::uint64_t{weights_size});
  state.weights.copy_to(writer.place());
  return {std::move(memory), size};
}

FlagPorts flag_ports(const Model& model) {
  return {to_flag_ports(model.inputs()), to_flag_ports(model.outputs())};
}

}  // namespace npu::ir
