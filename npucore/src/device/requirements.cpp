#include "requirements.hpp"

#include <charconv>
#include <optional>
#include <vector>

#include <npucore/error.hpp>

#include "base/text.hpp"

namespace npu::internal {
namespace {

using base::text;

std::string dotted(const Version& version) {
  return text(version.major, '.', version.minor, '.', version.patch);
}

[[noreturn]] void refuse(std::string_view part) {
  throw Error(ErrorCode::kInvalidArgument,
              text("the requirements of a model cannot be read at ", base::quoted(part),
                   ": use the text of its property RUNTIME_REQUIREMENTS"));
}

/// One to three numbers with dots between them.
Version version_of(std::string_view words, std::string_view part) {
  std::uint32_t numbers[3] = {};
  const char* at = words.data();
  const char* const end = words.data() + words.size();
  for (std::uint32_t& number : numbers) {
    const auto [stop, error] = std::from_chars(at, end, number);
    if (error != std::errc{}) {
      refuse(part);
    }
    if (stop == end) return {numbers[0], numbers[1], numbers[2]};
    if (*stop != '.') {
      refuse(part);
    }
    at = stop + 1;
  }
  refuse(part);
}

void read_part(std::string_view part, ir::BuiltWith& blob) {
  const auto equals = part.find('=');
  if (equals == part.npos) {
    refuse(part);
  }
  const auto name = part.substr(0, equals), value = part.substr(equals + 1);
  if (name == "compiler") {
    blob.compiler = version_of(value, part);
  } else if (name == "elf") {
    blob.elf = version_of(value, part);
  } else if (name == "mi") {
    blob.runtime = version_of(value, part);
  } else if (name == "npu") {
    blob.platform = std::to_string(version_of(value, part).major);
  } else if (name == "t") {
    blob.tiles = version_of(value, part).major;
  }
}

/// The inside of "desc=[...]", or all.
std::string_view inside(std::string_view words) {
  constexpr std::string_view kBegin = "desc=[";
  const auto begin = words.find(kBegin);
  if (begin == words.npos) return words;
  const auto end = words.find(']', begin);
  if (end == words.npos) {
    refuse(words);
  }
  return words.substr(begin + kBegin.size(), end - begin - kBegin.size());
}

enum class Fit { kFits, kBlobIsOlder, kBlobIsNewer };

/// A minor version only adds to an interface: an older blob still runs.
Fit fit(const Version& blob, const Version& device) {
  if (blob == Version{} || device == Version{}) return Fit::kFits;
  if (blob.major != device.major) {
    return blob.major > device.major ? Fit::kBlobIsNewer : Fit::kBlobIsOlder;
  }
  return blob.minor > device.minor ? Fit::kBlobIsNewer : Fit::kFits;
}

const char* advice(Fit fit) {
  return fit == Fit::kBlobIsNewer
             ? "the blob is newer than the driver: update the NPU driver and its firmware, or "
               "compile the model with this driver"
             : "the blob is older than the driver: compile the model again with this driver";
}

}  // namespace

std::string requirements_text(const ir::BuiltWith& blob) {
  std::vector<std::string> parts;
  if (blob.compiler != Version{}) {
    parts.push_back(text("compiler=", blob.compiler.major, '.', blob.compiler.minor));
  }
  if (!blob.platform.empty()) {
    parts.push_back("npu=" + blob.platform);
  }
  if (blob.tiles != 0) {
    parts.push_back(text("t=", blob.tiles));
  }
  if (blob.elf != Version{}) {
    parts.push_back("elf=" + dotted(blob.elf));
  }
  if (blob.runtime != Version{}) {
    parts.push_back("mi=" + dotted(blob.runtime));
  }
  return text("meta=2.0;ov=2026.4.1;desc=[", base::join(parts, ";"), ']');
}

ir::BuiltWith read_requirements(std::string_view words) {
  ir::BuiltWith blob;
  std::string_view rest = inside(words);
  while (!rest.empty()) {
    const auto end = std::min(rest.find(';'), rest.size());
    read_part(rest.substr(0, end), blob);
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return blob;
}

std::string why_unfit(const ir::BuiltWith& blob, const DeviceInfo& device) {
  if (!blob.platform.empty() && !device.platform.empty() && blob.platform != device.platform) {
    return text("the blob is for platform ", blob.platform, ", the device is a ", device.platform,
                ": compile the model for this device");
  }
  if (device.tiles != 0 && blob.tiles > device.tiles) {
    return text("the blob is for ", blob.tiles, " tiles, the device has ", device.tiles,
                ": compile the model for this device, or with NPU_TILES=1 for all of its platform");
  }
  for (const Fit outcome :
       {fit(blob.elf, device.blob_elf), fit(blob.runtime, device.blob_runtime)}) {
    if (outcome != Fit::kFits) return advice(outcome);
  }
  return {};
}

std::string compatibility(const ir::BuiltWith& blob, const DeviceInfo& device) {
  const bool known = !blob.platform.empty() || blob.tiles != 0 || blob.elf != Version{} ||
                     blob.runtime != Version{};
  if (!known) return "NOT_APPLICABLE";
  return why_unfit(blob, device).empty() ? "SUPPORTED" : "UNSUPPORTED";
}

}  // namespace npu::internal
