#include "blob_container.hpp"

#include <algorithm>
#include <stdexcept>
#include <string_view>

#include <npucore/error.hpp>

#include "base/text.hpp"
#include "ir/graph/file_kind.hpp"

#include "byte_reader.hpp"

namespace npu::ir {
namespace {

using base::text;
using Bytes = std::span<const std::byte>;

constexpr std::size_t kPayloadAlignment = 4096;
constexpr std::string_view kElfMagic =
    "\x7f"
    "ELF";
constexpr std::string_view kFooterMagic = "OVNPU";
constexpr std::string_view kDescriptionMagic = "NPUCORE1";
constexpr std::size_t kFooterSize = sizeof(std::uint64_t) + kFooterMagic.size();
constexpr std::size_t kSmallestMetadata = sizeof(std::uint32_t);
constexpr std::size_t kDescriptionTailSize = 2 * sizeof(std::uint64_t) + kDescriptionMagic.size();
constexpr std::uint16_t kMetadataMajor = 2, kNewestMinor = 7;
constexpr std::uint16_t kWrittenMinor = 0;
constexpr std::uint16_t kOpenVinoMajor = 2026, kOpenVinoMinor = 4, kOpenVinoPatch = 1;

std::string_view as_text(Bytes bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

bool starts_with(Bytes bytes, std::string_view magic) {
  return as_text(bytes).starts_with(magic);
}

bool ends_with(Bytes bytes, std::string_view magic) {
  return as_text(bytes).ends_with(magic);
}

std::uint64_t number_at(Bytes bytes, std::size_t offset) {
  return ByteReader(bytes.subspan(offset)).number<std::uint64_t>().value_or(0);
}

std::uint64_t fnv1a(Bytes bytes) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const auto byte : bytes) {
    hash ^= std::to_integer<std::uint64_t>(byte);
    hash *= 0x100000001b3;
  }
  return hash;
}

/// Throws the reason why a file cannot be loaded, always with the file's name.
class Refusal {
 public:
  explicit Refusal(const std::string& file_name) : file_name_(file_name) {}
  [[noreturn]] void no_blob(const std::string& reason) const {
    throw Error(ErrorCode::kInvalidArgument,
                text(base::quoted(file_name_), " is not a compiled model: ", reason));
  }
  [[noreturn]] void damaged(const std::string& reason) const {
    throw Error(ErrorCode::kInvalidArgument,
                text(base::quoted(file_name_), " is damaged: ", reason,
                     "; copy it again, or compile the model again with npu-compile"));
  }
  [[noreturn]] void unsupported(const std::string& reason) const {
    throw Error(ErrorCode::kUnsupported,
                text(base::quoted(file_name_), " cannot be loaded: ", reason));
  }

  const std::string& file_name() const { return file_name_; }

 private:
  const std::string& file_name_;
};

/// The fields of OpenVINO's metadata that decide whether a blob can be loaded.
struct Metadata {
  std::uint16_t minor = 0;
  std::uint16_t openvino_major = 0, openvino_minor = 0, openvino_patch = 0;
  std::uint64_t init_schedules = 0;
  bool encrypted = false;
  std::uint8_t blob_type = 0;  // 0 is ELF
};

void skip_layouts(ByteReader& reader) {
  const auto inputs = reader.number<std::uint64_t>().value_or(0);
  const auto outputs = reader.number<std::uint64_t>().value_or(0);
  for (const auto count : {inputs, outputs}) {
    // Stops at the first missing layout, however large the count.
    for (std::uint64_t i = 0; i < count && !reader.failed(); ++i) {
      reader.take(reader.number<std::uint16_t>().value_or(0));
    }
  }
}

Metadata read_fields(ByteReader& reader, std::uint16_t minor) {
  Metadata metadata;
  metadata.minor = minor;
  metadata.openvino_major = reader.number<std::uint16_t>().value_or(0);
  metadata.openvino_minor = reader.number<std::uint16_t>().value_or(0);
  metadata.openvino_patch = reader.number<std::uint16_t>().value_or(0);
  if (minor >= 1) {
    metadata.init_schedules = reader.number<std::uint64_t>().value_or(0);
    if (metadata.init_schedules > 0) return metadata;
  }
  if (minor >= 2) {
    reader.number<std::uint64_t>();  // batch size
  }
  if (minor >= 3) {
    skip_layouts(reader);
  }
  if (minor >= 4) {
    reader.number<std::uint32_t>();  // compiler version
  }
  if (minor >= 5) {
    metadata.encrypted = reader.number<std::uint8_t>().value_or(0) != 0;
  }
  if (minor >= 6) {
    reader.take(reader.number<std::uint64_t>().value_or(0));  // compatibility text
  }
  if (minor >= 7) {
    metadata.blob_type = reader.number<std::uint8_t>().value_or(0);
  }
  return metadata;
}

Metadata read_metadata(Bytes bytes, const Refusal& refusal) {
  ByteReader reader(bytes);
  const auto minor = reader.number<std::uint16_t>().value_or(0);
  const auto major = reader.number<std::uint16_t>().value_or(0);
  if (major != kMetadataMajor || minor > kNewestMinor) {
    refusal.unsupported(text("its metadata has version ", major, '.', minor, ", but only 2.0 to 2.",
                             kNewestMinor, " are known; export the model again with an OpenVINO ",
                             "up to 2026.4, or compile it with npu-compile"));
  }
  const auto metadata = read_fields(reader, minor);
  if (metadata.init_schedules == 0 && reader.failed()) {
    refusal.damaged("its metadata ends in the middle of a field");
  }
  return metadata;
}

void check_loadable(const Metadata& metadata, const Refusal& refusal) {
  if (metadata.init_schedules > 0) {
    refusal.unsupported(text("its weights are separated (", metadata.init_schedules,
                             " init schedules); export it without weights separation"));
  }
  if (metadata.encrypted) {
    refusal.unsupported("it is encrypted; export it without encryption callbacks");
  }
  if (metadata.blob_type != 0) {
    refusal.unsupported(text("it does not hold an ELF but ",
                             metadata.blob_type == 1 ? "LLVM code" : "bytecode",
                             "; compile the model with static shapes"));
  }
}

std::optional<BlobDescription> find_description(Bytes gap, const Refusal& refusal) {
  if (!ends_with(gap, kDescriptionMagic)) return {};
  if (gap.size() < kDescriptionTailSize) {
    refusal.damaged("its description is truncated");
  }
  const auto tail = gap.size() - kDescriptionTailSize;
  const auto hash = number_at(gap, tail);
  const auto size = number_at(gap, tail + sizeof(hash));
  if (size > tail) {
    refusal.damaged(
        text("its description should have ", size, " bytes, but only ", tail, " are there"));
  }
  const auto xml = gap.subspan(tail - size, size);
  if (fnv1a(xml) != hash) {
    refusal.damaged("its description does not match its checksum");
  }
  try {
    return read_description(as_text(xml));
  } catch (const std::invalid_argument& error) {
    refusal.damaged(text("its description cannot be read: ", error.what()));
  }
}

/// Whether the bytes look like OpenVINO's metadata, as far as they go.
bool looks_like_metadata(Bytes bytes) {
  constexpr std::size_t kTelling = 3;
  constexpr std::uint16_t kFirstYear = 2023, kLastYear = 2099;
  if (bytes.size() < kTelling) return false;
  ByteReader reader(bytes);
  const auto minor = reader.number<std::uint16_t>().value_or(0);
  if (minor > kNewestMinor || std::to_integer<int>(bytes[2]) != kMetadataMajor) return false;
  if (bytes.size() > kTelling && std::to_integer<int>(bytes[3]) != 0) return false;
  reader.number<std::uint16_t>();
  const auto year = reader.number<std::uint16_t>();
  return !year || (*year >= kFirstYear && *year <= kLastYear);
}

/// Refuses a blob that lost its end: a bare ELF has nothing behind it, but such a file has
/// metadata.
void check_not_cut_off(Bytes file, const Refusal& refusal) {
  constexpr std::size_t kSearched = 1 << 20;  // more than any metadata; not all of a large file
  auto offset = file.size() / kPayloadAlignment * kPayloadAlignment;
  const auto stop = file.size() > kSearched ? file.size() - kSearched : 0;
  for (; offset > stop; offset -= kPayloadAlignment) {
    if (!looks_like_metadata(file.subspan(offset))) continue;
    refusal.damaged(
        text("its end is missing; metadata start at byte ", offset, " of ", file.size()));
  }
}

std::string openvino_name(const Metadata& metadata) {
  return text("OpenVINO ", metadata.openvino_major, '.', metadata.openvino_minor, '.',
              metadata.openvino_patch);
}

BlobView open_with_footer(Bytes file, const Refusal& refusal) {
  if (file.size() < kFooterSize + kSmallestMetadata + kElfMagic.size()) {
    refusal.damaged(text("it has only ", file.size(), " bytes"));
  }
  const auto footer = file.size() - kFooterSize;
  const auto payload = number_at(file, footer);
  if (payload < kElfMagic.size() || payload > footer - kSmallestMetadata) {
    refusal.damaged(
        text("its blob should have ", payload, " bytes, but the file has ", file.size()));
  }
  const auto behind = file.subspan(payload, footer - payload);
  const auto metadata = read_metadata(behind, refusal);
  check_loadable(metadata, refusal);
  BlobView view;
  view.native = file.first(payload);
  view.description = find_description(behind, refusal);
  view.writer = view.description ? "npucore" : openvino_name(metadata);
  return view;
}

[[noreturn]] void refuse_without_elf(Bytes file, const Refusal& refusal) {
  if (starts_with(file, kFooterMagic)) {
    refusal.unsupported(
        "it is a blob of OpenVINO's container version 3, which npucore does not know; compile the "
        "model with npu-compile");
  }
  if (starts_with(file, "<?xml") || starts_with(file, "<compiled_blob")) {
    if (as_text(file.first(std::min(file.size(), kPayloadAlignment))).find("compiled_blob") !=
        std::string_view::npos) {
      refusal.unsupported(
          "it is a file of OpenVINO's model cache, with its header in front; export "
          "the model with compiled_model.export_model() instead");
    }
    refusal.no_blob("it is XML; if it is an IR, load it as a model (npuinfer, Model::read)");
  }
  if (ends_with(file, kFooterMagic)) {
    open_with_footer(file, refusal);  // throws the reason if the metadata give one
    refusal.unsupported("its content is not an ELF: it is encrypted, or of another kind");
  }
  refuse_other_kinds(file, refusal.file_name());
  refusal.no_blob(file.empty() ? "it is empty" : "it does not start with an ELF header");
}

void append(std::vector<std::byte>& bytes, std::string_view more) {
  const auto source = std::as_bytes(std::span(more));
  bytes.insert(bytes.end(), source.begin(), source.end());
}

}  // namespace

BlobView open_blob(Bytes file, const std::string& file_name) {
  const Refusal refusal(file_name);
  if (!starts_with(file, kElfMagic)) {
    refuse_without_elf(file, refusal);
  }
  if (ends_with(file, kFooterMagic)) return open_with_footer(file, refusal);
  check_not_cut_off(file, refusal);
  return {file, std::nullopt, {}};
}

std::vector<std::byte> blob_trailer(std::size_t native_size_bytes,
                                    const BlobDescription& description,
                                    std::uint32_t compiler_version) {
  const auto padding =
      (kPayloadAlignment - native_size_bytes % kPayloadAlignment) % kPayloadAlignment;
  std::vector<std::byte> trailer(padding);
  append_number(trailer, kWrittenMinor);
  append_number(trailer, kMetadataMajor);
  append_number(trailer, kOpenVinoMajor);
  append_number(trailer, kOpenVinoMinor);
  append_number(trailer, kOpenVinoPatch);
  const auto xml = write_description(description, compiler_version);
  append(trailer, xml);
  append_number(trailer, fnv1a(std::as_bytes(std::span(xml))));
  append_number(trailer, std::uint64_t{xml.size()});
  append(trailer, kDescriptionMagic);
  append_number(trailer, std::uint64_t{native_size_bytes + padding});
  append(trailer, kFooterMagic);
  return trailer;
}

}  // namespace npu::ir
