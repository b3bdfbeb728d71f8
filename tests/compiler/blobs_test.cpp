// Reads blobs that Intel's compiler wrote. NPU_FUZZ_SEEDS is a folder that gets them for the
// fuzzers.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <npucore/compiler.hpp>
#include <npucore/error.hpp>

#include "compile/preflight.hpp"
#include "ir/blob_container.hpp"
#include "ir/elf_sections.hpp"
#include "support/temp_dir.hpp"
#include "tools/run_tool.hpp"

#include "intels_compiler.hpp"

namespace npu::test {
namespace {

/// A blob of one platform, made once.
const std::vector<std::byte>& blob_for(const std::string& platform) {
  static auto* const blobs = new std::map<std::string, std::vector<std::byte>>;
  auto& blob = (*blobs)[platform];
  if (blob.empty()) {
    const auto network = std::filesystem::path(std::getenv("NETWORKS_DIR")) / "constant_filter.xml";
    const auto made = compile_for({platform}, Model::read(network));
    blob.assign(made.file.begin(), made.file.end());
  }
  return blob;
}

ir::BuiltWith built_with(const std::string& platform) {
  const auto view = ir::open_blob(blob_for(platform), "a.blob");
  return internal::built_with(view, "a.blob");
}

class Blobs : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(All, Blobs, ::testing::ValuesIn(kPlatforms),
                         [](const auto& test) { return std::string(test.param); });

TEST_P(Blobs, HaveTheSectionsThatTellTheirVersions) {
  const TempDir dir;
  const auto path = dir.path() / "a.blob";
  write_output(path, blob_for(GetParam()));
  const BlobInfo info = read_blob_info(path);
  // For a 3720 there is a dot in front of the names.
  for (const char* name :
       {"meta.PlatformInfo", "note.MappedInferenceVersion", "note.LoaderABIVersion"}) {
    EXPECT_EQ(std::ranges::count_if(
                  info.sections, [&](const auto& section) { return section.name.ends_with(name); }),
              1)
        << name;
  }
  EXPECT_EQ(info.inputs.size(), 1u);
  EXPECT_EQ(info.outputs.size(), 1u);
}

/// A reshape leaves them to the compiler.
TEST_P(Blobs, KnowTheirOutputsShapes) {
  const auto network = std::filesystem::path(std::getenv("NETWORKS_DIR")) / "constant_filter.xml";
  auto model = Model::read(network);
  const Port input = model.inputs().front();
  auto shape = input.shape;
  shape[2] *= 2;
  model.reshape({{input.name, shape}});
  const auto dynamic = model.outputs().front().shape;
  ASSERT_NE(std::ranges::count(dynamic, -1), 0);
  const auto made = compile_for({GetParam()}, model);
  const auto view = ir::open_blob(made.file, "a.blob");
  for (const auto& outputs : {made.outputs, view.description->outputs}) {
    const Shape known = outputs.at(0).shape;
    EXPECT_EQ(known.size(), dynamic.size());
    EXPECT_EQ(std::ranges::count(known, -1), 0) << to_string(known);
  }
}

TEST_P(Blobs, NpuInfoTellsThem) {
  const TempDir dir;
  const auto path = dir.path() / "a.blob";
  write_output(path, blob_for(GetParam()));
  const ToolRun run = run_tool("NPU_INFO", "'" + path.string() + "'");
  EXPECT_EQ(run.code, 0);
  const std::vector<std::string> parts = {std::string("platform  ") + GetParam(), "runtime",
                                          "note.MappedInferenceVersion", "meta.PlatformInfo"};
  for (const auto& part : parts) {
    EXPECT_TRUE(has(run.output, part)) << part << " in\n" << run.output;
  }
}

struct Engines {
  std::uint32_t tiles = 0;
  std::size_t dma = 0;
  bool operator==(const Engines&) const = default;
};
void PrintTo(const Engines& engines, std::ostream* out) {
  *out << engines.tiles << " tiles, " << engines.dma << " DMA engines";
}

/// The tiles and DMA engines that the compiler takes for a hint.
Engines engines_for(const std::string& platform, PerformanceHint hint) {
  const auto network = std::filesystem::path(std::getenv("NETWORKS_DIR")) / "constant_filter.xml";
  CompileOptions options;
  options.properties.set(property::performance_hint, hint);
  const auto made = compile_for({platform}, Model::read(network), options);
  const auto view = ir::open_blob(made.file, "a.blob");
  std::set<char> dma;  // "task.dma.1.0", for a 3720 ".text.dmaTasks1"
  for (const auto& section : ir::elf_sections(view.native, "a.blob")) {
    for (const std::string_view before : {"task.dma.", ".text.dmaTasks"}) {
      if (section.name.starts_with(before)) {
        dma.insert(section.name.at(before.size()));
      }
    }
  }
  return {internal::built_with(view, "a.blob").tiles, dma.size()};
}

TEST_P(Blobs, UseTheEnginesThatTheDocumentationTells) {
  const std::map<std::string, std::array<std::uint32_t, 2>> tiles = {
      {"3720", {2, 2}}, {"4000", {4, 2}}, {"5010", {3, 1}}, {"5020", {1, 1}}, {"6010", {3, 1}}};
  const auto& [latency, throughput] = tiles.at(GetParam());
  EXPECT_EQ(engines_for(GetParam(), PerformanceHint::kLatency), (Engines{latency, 2}));
  EXPECT_EQ(engines_for(GetParam(), PerformanceHint::kUndefined), (Engines{latency, 2}));
  EXPECT_EQ(engines_for(GetParam(), PerformanceHint::kThroughput), (Engines{throughput, 2}));
}

DeviceInfo device_for(const std::string& platform, const ir::BuiltWith& blob) {
  DeviceInfo device;
  device.platform = platform;
  device.blob_elf = blob.elf;
  device.blob_runtime = blob.runtime;
  return device;
}

bool fits(const ir::BuiltWith& blob, const DeviceInfo& device) {
  try {
    internal::check_fit("loading a.blob", blob, device);
    return true;
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kIncompatible) << error.what();
    return false;
  }
}

TEST_P(Blobs, FitTheirOwnPlatformAlone) {
  const auto blob = built_with(GetParam());
  for (const std::string platform : kPlatforms) {
    EXPECT_EQ(fits(blob, device_for(platform, blob)), platform == GetParam()) << platform;
  }
}

/// The version before this one, of another minor or, where there is none, major.
Version older(Version version) {
  (version.minor > 0 ? version.minor : version.major) -= 1;
  return version;
}

TEST_P(Blobs, DoNotFitAnOlderDriver) {
  const auto blob = built_with(GetParam());
  const auto device = device_for(GetParam(), blob);
  auto older_runtime = device, older_elf = device;
  older_runtime.blob_runtime = older(blob.runtime);
  older_elf.blob_elf = older(blob.elf);
  EXPECT_FALSE(fits(blob, older_runtime));
  EXPECT_FALSE(fits(blob, older_elf));
}

/// A file that a full disk or a lost connection has cut is read or refused, and no more.
TEST_P(Blobs, CutAnywhereAreReadOrRefused) {
  constexpr std::size_t kCuts = 200;
  const std::span<const std::byte> whole = blob_for(GetParam());
  for (std::size_t i = 0; i < kCuts; ++i) {
    // In memory of just its size: a sanitizer sees who reads behind it.
    const auto part = whole.first(whole.size() * i / kCuts);
    const std::vector<std::byte> cut(part.begin(), part.end());
    try {
      internal::built_with(ir::open_blob(cut, "cut.blob"), "cut.blob");
    } catch (const Error& error) {
      EXPECT_TRUE(has(error.what(), "cut.blob"));
    }
  }
}

/// Wine's server would hang, and with it everyone who compiles on the machine.
TEST(Compilers, UnderWineDoNotStartWithFewFiles) {
  const std::string library = std::getenv("NPUCORE_COMPILER_LIBRARY");
  if (library.find(".so") != library.npos) {
    GTEST_SKIP() << "the library needs no Wine";
  }
  const ToolRun run = run_tool("NPU_INFO", "--compiler", "ulimit -n 64; ");
  EXPECT_TRUE(has(run.output, "Wine needs 1024 open files, and the limit is 64")) << run.output;
}

TEST_P(Blobs, AreSeedsForTheFuzzers) {
  const char* folder = std::getenv("NPU_FUZZ_SEEDS");
  if (!folder) {
    GTEST_SKIP() << "set NPU_FUZZ_SEEDS to a folder";
  }
  const auto seeds = std::filesystem::path(folder) / "container";
  std::filesystem::create_directories(seeds);
  const auto path = seeds / (std::string(GetParam()) + ".blob");
  write_output(path, blob_for(GetParam()));
  EXPECT_EQ(std::filesystem::file_size(path), blob_for(GetParam()).size());
}

}  // namespace
}  // namespace npu::test
