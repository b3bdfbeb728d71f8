#include "properties/build_flags.hpp"

#include <gtest/gtest.h>

#include "support.hpp"

namespace npu::test {
namespace {

const ir::FlagPorts kPorts = {
    {{"image", ElementType::kU8, 4}, {"scale", ElementType::kF16, 0}},
    {{"boxes.0", ElementType::kF32, 3}, {"mask", ElementType::kBoolean, 6}},
};

struct FlagsRow {
  const char* name;
  ir::CompilerVersion compiler;
  std::map<std::string, std::string> config;
  const char* flags;
};

class BuildFlags : public ::testing::TestWithParam<FlagsRow> {};

TEST_P(BuildFlags, AreSpelledForTheCompiler) {
  EXPECT_EQ(internal::build_flags(kPorts, GetParam().compiler, GetParam().config),
            GetParam().flags);
}

INSTANTIATE_TEST_SUITE_P(
    Rows, BuildFlags,
    ::testing::Values(
        FlagsRow{"by_index",
                 {5, 9},
                 {},
                 R"(--inputs_precisions="0:U8 1:FP16" --inputs_layouts="0:NCHW 1:**SCALAR**" )"
                 R"(--outputs_precisions="0:FP32 1:BOOL" --outputs_layouts="0:CHW 1:BLOCKED")"},
        FlagsRow{"by_name",
                 {5, 8},
                 {},
                 R"(--inputs_precisions="image:U8 scale:FP16" )"
                 R"(--inputs_layouts="image:NCHW scale:**SCALAR**" )"
                 R"(--outputs_precisions="boxes.0:FP32 mask:BOOL" )"
                 R"(--outputs_layouts="boxes.0:CHW mask:BLOCKED")"},
        FlagsRow{"options",
                 {7, 26},
                 {{"NPU_TILES", "2"}, {"PERFORMANCE_HINT", "LATENCY"}},
                 R"(--inputs_precisions="0:U8 1:FP16" --inputs_layouts="0:NCHW 1:**SCALAR**" )"
                 R"(--outputs_precisions="0:FP32 1:BOOL" --outputs_layouts="0:CHW 1:BLOCKED" )"
                 R"(--config NPU_TILES="2" PERFORMANCE_HINT="LATENCY")"},
        FlagsRow{"old_prefixes",
                 {3, 4},
                 {{"NPU_TILES", "2"}},
                 R"(--inputs_precisions="image:U8 scale:FP16" )"
                 R"(--inputs_layouts="image:NCHW scale:**SCALAR**" )"
                 R"(--outputs_precisions="boxes.0:FP32 mask:BOOL" )"
                 R"(--outputs_layouts="boxes.0:CHW mask:BLOCKED" --config VPUX_DPU_GROUPS="2")"}),
    by_name);

TEST(BuildFlags, RefuseWhatTheGrammarCannotCarry) {
  expect_error(ErrorCode::kInvalidArgument, "cannot be passed on", [] {
    internal::build_flags(kPorts, {7, 0}, {{"NPU_COMPILATION_MODE_PARAMS", "a=\"b\""}});
  });
  expect_error(ErrorCode::kInvalidArgument, "cannot be passed on", [] {
    internal::build_flags(kPorts, {7, 0}, {{"TWO WORDS", "x"}});
  });
}

}  // namespace
}  // namespace npu::test
