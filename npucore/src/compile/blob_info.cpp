#include <npucore/compiled_model.hpp>

#include "base/api.hpp"
#include "base/mapped_file.hpp"
#include "device/requirements.hpp"
#include "ir/blob_container.hpp"
#include "ir/elf_sections.hpp"

#include "preflight.hpp"

namespace npu {

BlobInfo read_blob_info(const std::filesystem::path& path) try {
  const auto file = base::MappedFile::open(path);
  const ir::BlobView view = ir::open_blob(file.bytes(), path.string());
  BlobInfo info;
  info.writer = view.writer;
  info.file_bytes = file.bytes().size();
  info.native_bytes = view.native.size();
  info.sections = ir::elf_sections(view.native, path.string());
  const ir::BuiltWith built = internal::built_with(view, path.string());
  info.platform = built.platform;
  info.compiler = built.compiler;
  info.elf = built.elf;
  info.runtime = built.runtime;
  info.driver_version = built.driver_version;
  info.tiles = built.tiles;
  info.requirements = internal::requirements_text(built);
  if (view.description) {
    info.model_name = view.description->model_name;
    info.inputs = view.description->inputs;
    info.outputs = view.description->outputs;
    info.frame_input = view.description->frame_input;
    info.model_info = view.description->model_info;
  }
  return info;
} catch (...) {
  base::rethrow_as_error();
}

}  // namespace npu
