// The software NPU beside Intel's compiler (NPUCORE_COMPILER_LIBRARY): what it takes and refuses by
// itself, and with SOFTNPU_COMPILER=real, which this program's environment has.
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include <npucore/error.hpp>
#include <npucore/npucore.hpp>

#include "compile/compile_task.hpp"
#include "compile/library_client.hpp"
#include "ir/ir_files.hpp"
#include "ze/platforms.hpp"

namespace npu::test {
namespace {

using internal::LibraryClient;

Model demo_model() {
  return Model::read(std::getenv("SHAPES_XML"));
}

CompiledModel compile(const char* mode_params = "") {
  CompileOptions options;
  if (*mode_params) {
    options.config["NPU_COMPILATION_MODE_PARAMS"] = mode_params;
  }
  return CompiledModel::compile(Device::open(DeviceKind::kSoftware), demo_model(), options);
}

TEST(RealCompiler, TakesAModelThatTheSoftwareNpuThenRuns) {
  compile().create_request().infer();
}

/// The software NPU alone takes any parameter.
TEST(RealCompiler, RefusesInItsOwnWords) {
  try {
    compile("no-such-parameter=1");
    FAIL() << "taken";
  } catch (const Error& error) {
    EXPECT_TRUE(has(error.driver_log(), "[NPU_VCL]"));
    EXPECT_TRUE(has(error.driver_log(), "Failed to parse COMPILATION_MODE_PARAMS"));
  }
  EXPECT_NO_THROW(compile());
}

/// One option of a compilation; both compilers must agree about it.
struct Option {
  const char* name;
  const char* value;
};

void PrintTo(const Option& option, std::ostream* out) {
  *out << option.name << "=" << option.value;
}

class Options : public ::testing::TestWithParam<Option> {
 protected:
  static LibraryClient* client_of(const std::string& library) {
    const auto& known = *ze::known_platform("4000");
    return new LibraryClient({library, std::nullopt, false},
                             {known.pciDeviceIds[0], known.numTiles}, nullptr);
  }
  /// Empty where it is taken.
  static std::string refusal_of(LibraryClient& library, const Option& option) try {
    static const TempDir dir;
    static const Model model =
        Model::read(dir.write("m.xml", identity_ir("f32", {1, 3, 8, 8}, "[N,C,H,W]")));
    LoadStats stats;
    library.compile(internal::compile_task(model, internal::compiler_of(library), {},
                                           {{option.name, option.value}}, stats));
    return {};
  } catch (const Error& error) {
    return std::string(error.what()) + '\n' + error.driver_log();
  }
};

TEST_P(Options, AreTakenByBothOrByNone) {
  static LibraryClient& intels = *client_of(internal::compiler_library({}));
  static LibraryClient& software = *client_of(std::getenv("SOFTNPU_LIBRARY"));
  const std::string ours = refusal_of(software, GetParam());
  const std::string theirs = refusal_of(intels, GetParam());
  EXPECT_EQ(ours.empty(), theirs.empty()) << "software NPU: " << ours << "\nIntel's: " << theirs;
}

INSTANTIATE_TEST_SUITE_P(
    All, Options,
    ::testing::Values(
        Option{"NO_SUCH_OPTION", "1"}, Option{"PERF_COUNT", "true"}, Option{"PERF_COUNT", "on"},
        Option{"PERFORMANCE_HINT", "UNDEFINED"}, Option{"INFERENCE_PRECISION_HINT", "f32"},
        Option{"INFERENCE_PRECISION_HINT", "i8"}, Option{"LOG_LEVEL", "ERROR"},
        Option{"LOG_LEVEL", "LOG_NONE"}, Option{"NPU_PLATFORM", "3700"},
        Option{"NPU_PLATFORM", "NPU3720"}, Option{"NPU_TILES", "99"}, Option{"NPU_TILES", "0"},
        Option{"NPU_TILES", "1x"}, Option{"NPU_MAX_TILES", "-1"}, Option{"NPU_STEPPING", "x"},
        Option{"NPU_DMA_ENGINES", "2"}, Option{"NPU_DMA_ENGINES", "3"},
        Option{"COMPILATION_NUM_THREADS", "64"}, Option{"COMPILATION_NUM_THREADS", "-1"},
        Option{"NPU_BATCH_MODE", "AUTO"}, Option{"NPU_BATCH_MODE", "auto"},
        Option{"NPU_COMPILATION_MODE", "HostCompile"}, Option{"NPU_COMPILATION_MODE", "x"},
        Option{"NPU_COMPILATION_MODE_PARAMS", "optimization-level=3"},
        Option{"NPU_COMPILATION_MODE_PARAMS", "optimization-level=4"},
        Option{"NPU_COMPILATION_MODE_PARAMS", "performance-hint-override=x"},
        Option{"CACHE_MODE", "x"}, Option{"COMPATIBILITY_CHECK", "YES"},
        Option{"NPU_COMPILER_TYPE", "MLIR"}, Option{"PERFORMANCE_HINT_NUM_REQUESTS", "-1"},
        Option{"NPU_ENABLE_STRIDES_FOR", "nobody"}, Option{"MODEL_PRIORITY", "HIGH"}));

}  // namespace
}  // namespace npu::test
