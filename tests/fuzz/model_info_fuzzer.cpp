// The .modelinfo file beside a model, and a labels file.

#include <npucore/error.hpp>
#include <npuvision/labels.hpp>

#include "card/model_info.hpp"

#include "memory_file.hpp"
#include "mutation.hpp"

namespace {

void try_both(const std::string& path) {
  try {
    const auto info = npu::vision::read_model_info(path);
    info.find_output("output");
    info.find_output_by_id("yolo-v8-out");
  } catch (const npu::Error&) {
    // A refusal in words is what hostile files get.
  }
  try {
    npu::vision::label_of(npu::vision::read_labels_file(path), 3);
  } catch (const npu::Error&) {
    // As above.
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const npu::fuzz::MemoryFile file(npu::fuzz::as_text(data, size));
  try_both(file.path());
  return 0;
}
