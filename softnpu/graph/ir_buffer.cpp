#include "ir_buffer.hpp"

#include <cstring>
#include <string>

#include "base/failure.hpp"

namespace softnpu {
namespace {

constexpr uint32_t kParts = 2;

[[noreturn]] void refuse_buffer(const std::string& reason) {
  throw Failure(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE, "IR buffer: " + reason);
}

class Cursor {
 public:
  explicit Cursor(std::span<const std::byte> rest) : rest_(rest) {}

  template <class T>
  T number(const char* what) {
    T value;
    const auto bytes = take(sizeof value, what);
    std::memcpy(&value, bytes.data(), sizeof value);
    return value;
  }
  std::span<const std::byte> take(uint64_t size, const char* what) {
    if (size > rest_.size()) {
      refuse_buffer(std::string(what) + " has " + std::to_string(size) + " bytes, but only " +
                    std::to_string(rest_.size()) + " are left");
    }
    const auto bytes = rest_.first(size);
    rest_ = rest_.subspan(size);
    return bytes;
  }

 private:
  std::span<const std::byte> rest_;
};

template <class T>
void append_number(std::string& buffer, T value) {
  buffer.append(reinterpret_cast<const char*>(&value), sizeof value);
}

// A weightless buffer begins with its header's size.
std::string hint_for(CompilerVersion written_for) {
  if (written_for.major != 48 || written_for.minor != 0) return {};
  return "; a buffer whose weights are passed by address needs NPU_MODEL_SERIALIZER_VERSION="
         "\"NO_WEIGHTS_COPY\" behind --config";
}

}  // namespace

IrBuffer read_ir_buffer(std::span<const std::byte> buffer, CompilerVersion compiler) {
  Cursor cursor(buffer);
  CompilerVersion written_for{};
  written_for.major = cursor.number<uint16_t>("the compiler version");
  written_for.minor = cursor.number<uint16_t>("the compiler version");
  if (written_for.major != compiler.major || written_for.minor != compiler.minor) {
    refuse_buffer("Unsupported IR API version! Val: " + written_for.text() +
                  "; this compiler is version " + compiler.text() + hint_for(written_for));
  }
  cursor.number<uint32_t>("the number of parts");  // no compiler looks at it, or behind the weights
  const auto xml = cursor.take(cursor.number<uint64_t>("the XML's size"), "the XML");
  if (xml.empty()) {
    refuse_buffer("there is no XML in it");
  }
  const auto weights = cursor.take(cursor.number<uint64_t>("the weights' size"), "the weights");
  return {{reinterpret_cast<const char*>(xml.data()), xml.size()}, weights};
}

std::string write_ir_buffer(std::string_view xml, const Weights& weights,
                            CompilerVersion compiler) {
  std::string buffer;
  append_number(buffer, compiler.major);
  append_number(buffer, compiler.minor);
  append_number(buffer, kParts);
  append_number(buffer, uint64_t{xml.size()});
  buffer.append(xml);
  append_number(buffer, uint64_t{weights.size_bytes()});
  const size_t end = buffer.size();
  buffer.resize(end + weights.size_bytes());
  weights.copy_to(reinterpret_cast<std::byte*>(buffer.data() + end));
  return buffer;
}

}  // namespace softnpu
