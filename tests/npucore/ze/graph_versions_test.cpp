// Every version of the graph extension that a driver may have. The driver's table is cut to the
// version's own length and ends where readable memory ends: a slot past it cannot even be read.
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstring>

#include <npucore/model.hpp>

#include "ir/serialize.hpp"
#include "properties/build_flags.hpp"
#include "ze/graph.hpp"
#include "ze/memory.hpp"
#include "ze/queue.hpp"
#include "ze/result.hpp"

#include "support.hpp"

namespace npu::test {
namespace {

constexpr std::size_t kPage = 4096;

/// The first bytes of a table, with nothing behind them.
class CutTable {
 public:
  CutTable(const ze_graph_dditable_ext_t& whole, std::size_t size_bytes) {
    pages_ = static_cast<std::byte*>(
        ::mmap(nullptr, 2 * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    ::mprotect(pages_ + kPage, kPage, PROT_NONE);
    start_ = pages_ + kPage - size_bytes;
    std::memcpy(start_, &whole, size_bytes);
  }
  CutTable(const CutTable&) = delete;
  CutTable& operator=(const CutTable&) = delete;
  ~CutTable() { ::munmap(pages_, 2 * kPage); }
  const ze_graph_dditable_ext_t& table() const {
    return *reinterpret_cast<const ze_graph_dditable_ext_t*>(start_);
  }

 private:
  std::byte* pages_;
  std::byte* start_;
};

struct VersionRow {
  std::uint32_t minor;
  std::size_t table_bytes;
};

class GraphVersions : public ::testing::TestWithParam<VersionRow> {
 protected:
  static const ze::NpuDevice& npu() {
    static const auto loader = ze::Loader::open(ze::Loader::default_library());
    static std::string problem;
    static const auto found = ze::find_npus(*loader, ze::init_drivers(*loader), problem);
    return found.at(0);
  }

  ze::GraphSource model_source(const ir::SerializedModel& serialized, ir::CompilerVersion compiler,
                               const Model& model) {
    ze::GraphSource source;
    source.format = ze::GraphSource::Format::kModel;
    source.bytes = serialized.bytes();
    source.build_flags = internal::build_flags(ir::flag_ports(model), compiler, {});
    source.what = "compiling a test's model";
    return source;
  }

  /// The graph's result for `value` in every element.
  float run(const ze::DeviceContext& device, const ze::Queue& queue, const ze::Graph& graph) {
    using ze::Memory;
    const std::size_t bytes = kAffineElements * sizeof(float);
    const Memory in = Memory::allocate(device, bytes, Memory::CpuCaching::kWriteCombined, false);
    const Memory out = Memory::allocate(device, bytes, Memory::CpuCaching::kCached, false);
    std::fill_n(static_cast<float*>(in.address()), kAffineElements, 5.f);
    const ze::CommandList list = ze::make_command_list(device);
    const ze::Fence fence = ze::make_fence(device, queue.handle());
    ze::check(device.graph->pfnSetArgumentValue(graph.handle(), 0, in.address()), "set 0");
    ze::check(device.graph->pfnSetArgumentValue(graph.handle(), 1, out.address()), "set 1");
    ze::check(device.graph->pfnAppendGraphExecute(list.get(), graph.handle(), nullptr, nullptr, 0,
                                                  nullptr),
              "append");
    ze::check(device.loader.zeCommandListClose(list.get()), "close");
    ze_command_list_handle_t lists[] = {list.get()};
    ze::check(device.loader.zeCommandQueueExecuteCommandLists(queue.handle().get(), 1, lists,
                                                              fence.get()),
              "execute");
    ze::check(device.loader.zeFenceHostSynchronize(fence.get(), 10'000'000'000), "wait");
    return static_cast<const float*>(out.address())[kAffineElements - 1];
  }
};

TEST_P(GraphVersions, CompileRunExportAndImport) {
  ze::DeviceContext device(npu());
  ASSERT_GE(ze_npu_version_minor(device.graph.version()), GetParam().minor);
  const CutTable cut(*device.graph, GetParam().table_bytes);
  device.graph = ze::GraphTable(cut.table(), ze_npu_version(1, GetParam().minor));
  const TempDir folder;
  const Model model = Model::read(write_affine_model(folder.path()));
  const Version version = ze::graph_capabilities(device.npu, device.graph).compiler;
  const ir::CompilerVersion compiler = {static_cast<std::uint16_t>(version.major),
                                        static_cast<std::uint16_t>(version.minor)};
  const auto serialized = ir::serialize(model, compiler);
  const ze::Queue queue(device, {});

  const ze::Graph compiled(device, model_source(serialized, compiler, model));
  compiled.initialize(queue.handle());
  const auto arguments = compiled.arguments();
  ASSERT_EQ(arguments.size(), 2u);
  EXPECT_TRUE(arguments[0].is_input);
  EXPECT_FALSE(arguments[1].is_input);
  EXPECT_EQ(to_string(arguments[0].shape), "[1,3,4,4]");
  EXPECT_EQ(arguments[1].type, ElementType::kF32);
  EXPECT_EQ(run(device, queue, compiled), affine(5));

  std::vector<std::byte> copy;
  const auto native = compiled.native_binary(copy);
  ze::GraphSource blob;
  blob.bytes = native;
  blob.what = "loading a test's blob";
  const ze::Graph imported(device, blob);
  imported.initialize(queue.handle());
  EXPECT_EQ(run(device, queue, imported), affine(5));
}

TEST_P(GraphVersions, CarryTheDriversWordsInTheError) {
  ze::DeviceContext device(npu());
  const CutTable cut(*device.graph, GetParam().table_bytes);
  device.graph = ze::GraphTable(cut.table(), ze_npu_version(1, GetParam().minor));
  const std::string junk =
      "\x7f"
      "ELF and then nothing that makes sense to a driver at all";
  ze::GraphSource blob;
  blob.bytes = std::as_bytes(std::span(junk.data(), junk.size()));
  blob.what = "loading junk";
  try {
    const ze::Graph graph(device, blob);
    FAIL() << "junk was loaded";
  } catch (const Error& error) {
    EXPECT_TRUE(has(error.what(), "loading junk"));
    EXPECT_EQ(error.driver_log().empty(), GetParam().minor < 4) << error.what();
  }
}

INSTANTIATE_TEST_SUITE_P(
    Rows, GraphVersions,
    ::testing::Values(VersionRow{0, 72}, VersionRow{1, 88}, VersionRow{2, 96}, VersionRow{3, 120},
                      VersionRow{4, 128}, VersionRow{5, 152}, VersionRow{6, 160},
                      VersionRow{7, 168}, VersionRow{8, 184}, VersionRow{9, 184},
                      VersionRow{11, 200}, VersionRow{12, 232}),
    [](const auto& row) { return "Version1_" + std::to_string(row.param.minor); });

}  // namespace
}  // namespace npu::test
