#include "model_info_file.hpp"

#include <span>
#include <string>
#include <system_error>

#include <npucore/model.hpp>

namespace fs = std::filesystem;

namespace {

constexpr std::size_t kMostBytes = std::size_t{1} << 20;

std::optional<fs::path> find_model_info(const fs::path& model) {
  const auto beside = fs::path(model).replace_extension(".modelinfo");
  for (const auto& path : {fs::path(model.string() + ".modelinfo"), beside}) {
    std::error_code too_long;  // the longer name may be too long
    if (fs::is_regular_file(path, too_long)) return path;
  }
  return {};
}

}  // namespace

std::optional<fs::path> model_info_target(const fs::path& model, const fs::path& blob) {
  const auto source = find_model_info(model);
  auto target = fs::path(blob).replace_extension(".modelinfo");
  std::error_code not_there;
  if (!source || target == blob || fs::equivalent(*source, target, not_there)) return {};
  return target;
}

std::optional<fs::path> copy_model_info(const fs::path& model, const fs::path& blob) {
  const auto source = find_model_info(model);
  auto target = model_info_target(model, blob);
  if (!source || !target) return {};
  // Follows no link out of the model's folder: its target would be published beside the blob.
  const fs::path folder = source->parent_path();
  const std::string text =
      npu::read_input(source->filename(), kMostBytes, folder.empty() ? "." : folder);
  npu::write_output(*target, std::as_bytes(std::span(text)));
  return target;
}
