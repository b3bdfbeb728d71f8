#include "container_parts.hpp"

#include "elf_mutator.hpp"
#include "xml_mutator.hpp"

namespace npu::fuzz {
namespace {

constexpr std::string_view kFooterMagic = "OVNPU", kDescriptionMagic = "NPUCORE1";
constexpr std::size_t kNumber = sizeof(std::uint64_t);
constexpr std::size_t kFooter = kNumber + kFooterMagic.size();
constexpr std::size_t kTail = 2 * kNumber + kDescriptionMagic.size();

std::uint64_t fnv1a(std::string_view bytes) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char byte : bytes) hash = (hash ^ static_cast<unsigned char>(byte)) * 0x100000001b3;
  return hash;
}

/// Minor, major and the version of OpenVINO come first; what follows depends on the minor.
void change_metadata(std::string& metadata, Random& random) {
  if (random.one_in(3)) {
    metadata = mutate_bytes(metadata);
  } else if (random.one_in(3)) {
    put_number(metadata, 0, static_cast<std::uint16_t>(random.below(10)));
  } else if (random.one_in(2)) {
    put_number(metadata, random.below(metadata.size()), random.number());
  } else {
    append_number(metadata, random.one_in(2) ? random.number() : std::uint64_t{0});
  }
}

}  // namespace

ContainerParts ContainerParts::split(std::string_view file) {
  ContainerParts parts;
  parts.payload = file;
  if (!file.ends_with(kFooterMagic) || file.size() < kFooter) return parts;
  const auto footer = file.size() - kFooter;
  const auto payload = number_at<std::uint64_t>(file, footer);
  if (payload > footer) return parts;
  parts.has_footer = true;
  parts.payload = file.substr(0, payload);
  const auto behind = file.substr(payload, footer - payload);
  parts.metadata = behind;
  if (!behind.ends_with(kDescriptionMagic) || behind.size() < kTail) return parts;
  const auto tail = behind.size() - kTail;
  const auto size = number_at<std::uint64_t>(behind, tail + kNumber);
  if (size > tail) return parts;
  parts.metadata = behind.substr(0, tail - size);
  parts.description = behind.substr(tail - size, size);
  return parts;
}

std::string ContainerParts::join() const {
  std::string file = payload;
  if (!has_footer) return file;
  file += metadata;
  if (!description.empty()) {
    file += description;
    append_number(file, fnv1a(description));
    append_number(file, std::uint64_t{description.size()});
    file += kDescriptionMagic;
  }
  append_number(file, std::uint64_t{payload.size()});
  return file += kFooterMagic;
}

std::string mutate_container(std::string_view file, Random& random) {
  if (random.one_in(10)) return mutate_bytes(std::string(file));
  auto parts = ContainerParts::split(file);
  switch (random.below(8)) {
    case 0:
      parts.has_footer = !parts.has_footer;
      break;
    case 1:
    case 2:
      change_metadata(parts.metadata, random);
      break;
    case 3:
    case 4:
      parts.description = mutate_xml(parts.description, random);
      break;
    default:
      parts.payload = mutate_elf(parts.payload, random);
      break;
  }
  auto joined = parts.join();
  // One of the numbers at the end, wrong again.
  if (random.one_in(8) && joined.size() > kFooter + kTail) {
    put_number(joined, joined.size() - kFooter - random.below(kTail), random.number());
  }
  return joined;
}

}  // namespace npu::fuzz
