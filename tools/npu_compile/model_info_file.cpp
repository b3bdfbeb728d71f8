#include "model_info_file.hpp"

#include <unistd.h>

#include <string>

namespace fs = std::filesystem;

namespace {

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
  if (!source || (fs::exists(target) && fs::equivalent(*source, target))) return {};
  const fs::path temporary = target.string() + "." + std::to_string(::getpid()) + ".tmp";
  try {
    fs::copy_file(*source, temporary, fs::copy_options::overwrite_existing);
    fs::rename(temporary, target);
  } catch (const fs::filesystem_error&) {
    std::error_code ignored;
    fs::remove(temporary, ignored);
    throw;
  }
  return target;
}
