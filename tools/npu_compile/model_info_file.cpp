#include "model_info_file.hpp"

#include <span>
#include <string>

#include <npucore/model.hpp>

namespace fs = std::filesystem;

namespace {

constexpr std::size_t kMostBytes = std::size_t{1} << 20;

std::optional<fs::path> find_model_info(const fs::path& model) {
  const auto beside = fs::path(model).replace_extension(".modelinfo");
  for (const auto& path : {fs::path(model.string() + ".modelinfo"), beside}) {
    if (fs::is_regular_file(path)) return path;
  }
  return {};
}

}  // namespace

std::optional<fs::path> copy_model_info(const fs::path& model, const fs::path& blob) {
  const auto source = find_model_info(model);
  const auto target = fs::path(blob).replace_extension(".modelinfo");
  const bool is_there = fs::exists(target) && source && fs::equivalent(*source, target);
  if (!source || is_there || target == blob) return {};
  // No link out of the model's folder: what is there would be published beside the blob.
  const fs::path folder = source->parent_path();
  const std::string text =
      npu::read_input(source->filename(), kMostBytes, folder.empty() ? "." : folder);
  npu::write_output(target, std::as_bytes(std::span(text)));
  return target;
}
