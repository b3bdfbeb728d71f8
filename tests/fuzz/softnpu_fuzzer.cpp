// Fuzzes inputs of the software NPU: both forms of an IR in memory, and its own native binary.

#include <array>

#include "base/failure.hpp"
#include "graph/blob.hpp"
#include "graph/ir_buffer.hpp"
#include "graph/weightless.hpp"

#include "elf_mutator.hpp"
#include "ir_mutator.hpp"

namespace {

using namespace npu::fuzz;

constexpr softnpu::CompilerVersion kCompiler{7, 5};
constexpr softnpu::BlobTarget kDevice{4000, {11, 13, 0}};
constexpr std::size_t kWord = sizeof(std::uint64_t), kWords = 6, kHeader = kWords * kWord;

template <class Call>
void try_to(Call call) {
  try {
    call();
  } catch (const softnpu::Failure&) {
    // A refusal is what a hostile client gets.
  }
}

/// u16, u16, u32 2, then size and bytes of the XML, size and bytes of the weights.
std::string mutate_ir_buffer(std::string_view buffer, Random& random) {
  constexpr std::size_t kXml = 8;
  const auto xml_size = number_at<std::uint64_t>(buffer, kXml);
  if (buffer.size() < kXml + kWord || xml_size > buffer.size() - kXml - kWord) {
    return mutate_bytes(std::string(buffer));
  }
  const auto xml = mutate_ir(buffer.substr(kXml + kWord, xml_size), random);
  std::string made(buffer.substr(0, kXml));
  append_number(made, std::uint64_t{xml.size()});
  return made + xml + std::string(buffer.substr(kXml + kWord + xml_size));
}

/// Six u64: offset and size of version, constants and XML, which comes last.
std::string mutate_weightless(std::string_view buffer, Random& random) {
  std::string made(buffer);
  if (random.one_in(4)) {
    put_number(made, kWord * random.below(kWords), random.number());
    return made;
  }
  const auto xml_at = number_at<std::uint64_t>(buffer, 4 * kWord);
  if (xml_at < kHeader || xml_at > buffer.size()) return mutate_bytes(made);
  const auto xml = mutate_ir(buffer.substr(xml_at), random);
  made.resize(xml_at);
  made += xml;
  put_number(made, 5 * kWord, std::uint64_t{xml.size()});
  return made;
}

/// Mostly with the checksum of what it then holds.
std::string mutate_blob(std::string_view blob, Random& random) {
  auto made = mutate_elf(blob, random);
  const auto note = find_section(made, ".note.softnpu");
  const auto flags = find_section(made, ".softnpu.flags"), ir = find_section(made, ".softnpu.ir");
  std::uint32_t hash = 0x811c9dc5;
  for (const auto range : {flags, ir}) {
    for (const char c : std::string_view(made).substr(range.offset, range.size_bytes)) {
      hash = (hash ^ static_cast<unsigned char>(c)) * 0x01000193;
    }
  }
  // Behind the note's header of three words, its owner of eight bytes, and three more numbers.
  constexpr std::size_t kChecksum = 3 * 4 + 8 + 3 * 4;
  if (note.size_bytes > kChecksum && !random.one_in(8)) {
    put_number(made, note.offset + kChecksum, hash);
  }
  return made;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  try_to([&] { softnpu::read_ir_buffer(bytes, kCompiler); });
  try_to([&] { softnpu::read_weightless(bytes, kCompiler); });
  try_to([&] { softnpu::read_blob(bytes, kDevice); });
  return 0;
}

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t max_size, unsigned seed) {
  Random random(seed);
  const auto bytes = as_text(data, size);
  std::string made;
  if (bytes.starts_with("\x7f")) {
    made = mutate_blob(bytes, random);
  } else if (number_at<std::uint64_t>(bytes, 0) == kHeader) {
    made = mutate_weightless(bytes, random);
  } else {
    made = mutate_ir_buffer(bytes, random);
  }
  return give_back(made, data, size, max_size);
}
