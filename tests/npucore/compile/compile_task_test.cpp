#include "compile/compile_task.hpp"

#include <gtest/gtest.h>

#include "support/expect.hpp"

namespace npu::internal {
namespace {

const Error kRefusal(ErrorCode::kCompileFailed, "it does not compile", "Bad optional access");

std::string words_with(const std::vector<ir::LayerName>& layers, const std::string& taken) {
  return with_refused_layers(kRefusal, layers, taken).what();
}

TEST(RefusedLayers, AreNamedWithTheirOperators) {
  const std::vector<ir::LayerName> layers = {
      {"in", "Parameter"}, {"w", "Const"}, {"a", "Relu"}, {"b>", "Selu"}, {"out", "Result"}};
  EXPECT_EQ(words_with(layers, "<in><a>"),
            "it does not compile; the compiler refuses 1 of 2 layers: 'b>' (Selu)");
  const Error error = with_refused_layers(kRefusal, layers, "<in><a>");
  EXPECT_EQ(error.code(), ErrorCode::kCompileFailed);
  EXPECT_EQ(error.driver_log(), "Bad optional access");
}

TEST(RefusedLayers, AreTenAtMost) {
  std::vector<ir::LayerName> layers;
  for (int i = 0; i < 13; ++i) layers.push_back({std::to_string(i), "Relu"});
  const std::string words = words_with(layers, "<0>");
  EXPECT_TRUE(has(words, "refuses 12 of 13 layers: '1' (Relu), '2' (Relu)")) << words;
  EXPECT_TRUE(words.ends_with("'10' (Relu) and 2 more")) << words;
}

TEST(RefusedLayers, AreLeftToASearchWhereTheCompilerTakesEachAlone) {
  const std::vector<ir::LayerName> layers = {{"a", "Relu"}, {"out", "Result"}};
  EXPECT_EQ(
      words_with(layers, "<a>"),
      "it does not compile; the compiler does not tell the layer: npu-compile --why finds it");
  for (const char* nothing : {"", "a", "<a"}) {
    EXPECT_EQ(words_with(layers, nothing), kRefusal.what()) << nothing;
  }
}

}  // namespace
}  // namespace npu::internal
