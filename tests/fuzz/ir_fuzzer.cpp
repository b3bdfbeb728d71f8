// An IR on its way through the library: read, check, edit, and write for compilers old and new.

#include <npucore/error.hpp>
#include <npucore/model.hpp>

#include "ir/serialize.hpp"
#include "ir/states.hpp"

#include "ir_mutator.hpp"
#include "memory_file.hpp"

namespace {

using namespace npu::fuzz;

constexpr std::array<npu::ir::CompilerVersion, 3> kCompilers{{{5, 8, 7}, {7, 26, 11}, {8, 1, 16}}};

/// Bytes for whatever constants an input has.
const MemoryFile& weights() {
  static const MemoryFile file(std::string(8192, '\x3f'));
  return file;
}

template <class Call>
void try_to(Call call) {
  try {
    call();
  } catch (const npu::Error&) {
    // A refusal in words is what hostile files get.
  }
}

void write(const npu::Model& model) {
  for (const auto version : kCompilers) {
    try_to([&] { npu::ir::serialize(model, version); });
    try_to([&] { npu::ir::serialize_weightless(model, version, 16); });
    try_to([&] { npu::ir::flag_ports(model, version); });
  }
  npu::ir::content_hash(model);
}

/// Other sizes for all inputs, of their own rank.
void reshape(npu::Model model, std::int64_t size) {
  std::map<std::string, npu::Shape> shapes;
  for (const auto& input : model.inputs()) {
    shapes[input.name] = npu::Shape(input.shape.size(), size);
  }
  model.reshape(shapes);
  write(model);
}

void add_frames(npu::Model model, npu::PixelFormat format) {
  auto frame = npu::FrameLayout::tight(format, 18, 14);
  frame.width = 16;
  frame.crop_left = 1;
  model.add_preprocess(model.default_preprocess(frame));
  write(model);
  try_to([&] { reshape(model, 4); });
}

void repair(npu::Model model) {
  if (model.repair().empty()) return;
  model.layers();
  write(model);
}

void use(const npu::Model& model, std::size_t choice) {
  constexpr std::array kFormats{npu::PixelFormat::kNV12, npu::PixelFormat::kBGR,
                                npu::PixelFormat::kYUY2, npu::PixelFormat::kGray8,
                                npu::PixelFormat::kP010, npu::PixelFormat::kI420,
                                npu::PixelFormat::kNV16, npu::PixelFormat::kARGB,
                                npu::PixelFormat::kUYVY, npu::PixelFormat::kGray16};
  try_to([&] { model.check_supported(); });
  model.warnings();
  npu::ir::initial_states(model);
  write(model);
  try_to([&] { reshape(model, static_cast<std::int64_t>(1 + choice % 9)); });
  try_to([&] { add_frames(model, kFormats[choice % kFormats.size()]); });
  try_to([&] { repair(model); });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try_to([&] {
    const MemoryFile xml(as_text(data, size));
    use(npu::Model::read(xml.path(), weights().path()), size);
  });
  return 0;
}

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t max_size, unsigned seed) {
  Random random(seed);
  return give_back(mutate_ir(as_text(data, size), random), data, size, max_size);
}
