// Text that machines read is the same in every locale of the process.
#include <gtest/gtest.h>

#include <memory>

#include "ir/blob_description.hpp"
#include "ir/serialize.hpp"
#include "support/foreign_locale.hpp"

#include "ir_files.hpp"

namespace npu::ir {
namespace {

constexpr CompilerVersion kCompiler{8, 0, 16};
constexpr std::size_t kAllCopied = SIZE_MAX;  // addresses are other ones each time

/// All texts that a model becomes: with weights, weightless, and a blob's description.
std::string texts(const std::filesystem::path& path) {
  auto model = Model::read(path);
  model.reshape({{"picture", {1, 3, 8, 1920}}});
  auto frame = FrameLayout::tight(PixelFormat::kNV12, 1918, 1078);
  frame.crop_left = 1;  // weights of a resampling
  frame.planes = {{2048, 1088}, {2048, 544}};
  Preprocess preprocess{.frame = frame};
  preprocess.mean = {123.675F};
  preprocess.scale = {58.395F};
  model.add_preprocess(preprocess);
  std::string all;
  for (const auto& made :
       {serialize(model, kCompiler), serialize_weightless(model, kCompiler, kAllCopied)}) {
    const auto bytes = made.bytes();
    all.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  }
  BlobDescription description;
  description.inputs = model.inputs();
  description.outputs = model.outputs();
  description.frame_input = model.frame_input();
  const auto text = write_description(description, 1 << 16);
  EXPECT_EQ(read_description(text).inputs.at(0).shape, model.inputs().at(0).shape);
  return all + text + std::to_string(content_hash(model));
}

class LocaleTest : public testing::Test {
 protected:
  test::TempDir dir_;
  std::filesystem::path path_ =
      dir_.write("model.xml", test::identity_ir("u8", {1, 3, -1, -1}, "[N,C,H,W]"));
  std::string expected_ = texts(path_);
};

TEST_F(LocaleTest, DigitGroupsAndDecimalCommasChangeNothing) {
  const test::ForeignNumbers german;
  EXPECT_TRUE(texts(path_) == expected_);
}

TEST_F(LocaleTest, TheLocaleOfCChangesNothing) {
  for (const auto* name : {"de_DE", "tr_TR"}) {
    const test::ForeignLanguage language(name);
    if (!language.is_usable()) {
      GTEST_SKIP() << "localedef cannot make " << name << " here";
    }
    EXPECT_TRUE(texts(path_) == expected_) << name;
  }
}

}  // namespace
}  // namespace npu::ir
