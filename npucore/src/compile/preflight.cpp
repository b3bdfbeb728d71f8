#include "preflight.hpp"

#include <optional>
#include <string_view>

#include <npucore/error.hpp>

#include "base/log.hpp"
#include "base/text.hpp"
#include "device/requirements.hpp"
#include "ir/byte_reader.hpp"
#include "ir/elf_sections.hpp"
#include "ze/platforms.hpp"

namespace npu::internal {
namespace {

using base::text;

constexpr std::uint32_t kNoteSection = 7;  // SHT_NOTE
// Notes of Intel's compiler: an owner of four bytes ("GNU", "MIV") with a type of its own, and four
// numbers: an operating system, then the version.
constexpr std::string_view kElfNote = "note.LoaderABIVersion";
constexpr std::string_view kRuntimeNote = "note.MappedInferenceVersion";
// Four 8-byte numbers that are the same for all platforms, then the platform.
constexpr std::string_view kPlatformSection = "meta.PlatformInfo";
constexpr std::size_t kPlatformOffset = 32;
// The same and more as text, with a zero at its end.
constexpr std::string_view kRequirementsSection = "compatibility_string";

std::optional<Version> version_note(std::span<const std::byte> note) {
  constexpr std::uint32_t kOwnerBytes = 4, kVersionBytes = 16;
  ir::ByteReader reader(note);
  const auto owner = reader.number<std::uint32_t>(), size = reader.number<std::uint32_t>();
  if (owner != kOwnerBytes || size != kVersionBytes) return std::nullopt;
  reader.take(sizeof(std::uint32_t) + kOwnerBytes + sizeof(std::uint32_t));
  const auto major = reader.number<std::uint32_t>(), minor = reader.number<std::uint32_t>(),
             patch = reader.number<std::uint32_t>();
  if (reader.failed()) return std::nullopt;
  return Version{*major, *minor, *patch};
}

std::string platform_of(std::span<const std::byte> section) {
  ir::ByteReader reader(section);
  reader.take(kPlatformOffset);
  return ze::platform_of_blob(reader.number<std::uint64_t>().value_or(0));
}

/// Adds what the compiler says of its blob in its own words, where nothing else has said it.
void add_words_of(std::span<const std::byte> section, ir::BuiltWith& built) try {
  const std::string_view all(reinterpret_cast<const char*>(section.data()), section.size());
  const ir::BuiltWith words = read_requirements(all.substr(0, all.find('\0')));
  built.tiles = words.tiles;
  if (built.platform.empty()) {
    built.platform = words.platform;
  }
  if (built.compiler == Version{}) {
    built.compiler = words.compiler;
  }
  if (built.elf == Version{}) {
    built.elf = words.elf;
  }
  if (built.runtime == Version{}) {
    built.runtime = words.runtime;
  }
} catch (const Error& error) {
  if (error.code() != ErrorCode::kInvalidArgument) throw;
  base::log(LogLevel::kDebug, error.what());
}

void read_section(const std::string& name, std::uint32_t type, std::span<const std::byte> bytes,
                  ir::BuiltWith& built) {
  if (name.ends_with(kPlatformSection) && built.platform.empty()) {
    built.platform = platform_of(bytes);
  }
  if (name == kRequirementsSection) {
    add_words_of(bytes, built);
  }
  const auto version = type == kNoteSection ? version_note(bytes) : std::nullopt;
  if (version && name.ends_with(kElfNote)) {
    built.elf = *version;
  }
  if (version && name.ends_with(kRuntimeNote)) {
    built.runtime = *version;
  }
}

void read_sections(const ir::BlobView& blob, const std::string& title, ir::BuiltWith& built) {
  for (const auto& section : ir::elf_sections(blob.native, title)) {
    if (section.offset <= blob.native.size() &&
        section.size_bytes <= blob.native.size() - section.offset) {
      read_section(section.name, section.type,
                   blob.native.subspan(section.offset, section.size_bytes), built);
    }
  }
}

}  // namespace

ir::BuiltWith built_with(const ir::BlobView& blob, const std::string& title) {
  ir::BuiltWith built;
  if (blob.description) {
    built = blob.description->built_with;
  }
  read_sections(blob, title, built);
  return built;
}

ir::BuiltWith built_with(const DeviceInfo& device) {
  return {device.platform, device.compiler, device.blob_elf, device.blob_runtime,
          device.driver_version};
}

std::string describe_both(const ir::BuiltWith& blob, const DeviceInfo& device) {
  const std::string words = ir::describe(blob);
  return text("the blob: ", words.empty() ? "does not say how it was built" : words,
              "; the device: ", ir::describe(built_with(device)));
}

void check_fit(const std::string& title, const ir::BuiltWith& blob, const DeviceInfo& device) {
  const std::string why = why_unfit(blob, device);
  if (why.empty()) return;
  throw Error(ErrorCode::kIncompatible,
              text(title, ": ", why, " (", describe_both(blob, device),
                   "; NPU_DISABLE_VERSION_CHECK=YES lets the driver decide)"));
}

}  // namespace npu::internal
