// OpenVINO's own NPU plugin on the software NPU: the proof that the driver speaks the real binary
// interface. The plugin needs a Level Zero loader of 1.18 or newer, so on Debian 12 this is
// skipped; scripts/lane.sh trixie has one.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <openvino/openvino.hpp>
#include <openvino/runtime/intel_npu/level_zero/level_zero.hpp>
#include <random>
#include <sstream>
#include <thread>

#include <npucore/npucore.hpp>

#include "support/expect.hpp"
#include "support/temp_dir.hpp"

#include "plugin_models.hpp"

namespace lanes {
namespace {

using Tensors = std::vector<ov::Tensor>;

bool loader_is_new_enough() {
  void* loader = dlopen("libze_loader.so.1", RTLD_NOW | RTLD_LOCAL);
  return loader != nullptr && dlsym(loader, "zeInitDrivers") != nullptr;
}

// The driver's trace, which says in what layout it got a model. Named before anybody opens the
// driver; children that a test starts keep their parent's.
const std::string& trace_path() {
  static const std::string path = [] {
    const std::string own =
        testing::TempDir() + "ov-plugin-" + std::to_string(::getpid()) + ".jsonl";
    ::setenv("SOFTNPU_TRACE", own.c_str(), 0);
    return std::string(std::getenv("SOFTNPU_TRACE"));
  }();
  return path;
}

// The layout of the last graph's input: "native", "classic" or "weightless".
std::string last_input() {
  std::ifstream trace(trace_path());
  const std::string field = "\"input\":\"";
  std::string last;
  for (std::string line; std::getline(trace, line);) {
    const size_t at = line.find(field);
    if (at == std::string::npos) continue;
    const size_t begin = at + field.size();
    last = line.substr(begin, line.find('"', begin) - begin);
  }
  return last;
}

// One core for the process; the CPU plugin counts in f32, as the software NPU does. It ends with
// the tests: among static objects, its callback threads would lock what OpenVINO has destroyed
// before it.
std::unique_ptr<ov::Core> the_core;

ov::Core& core() {
  if (!the_core) {
    trace_path();
    the_core = std::make_unique<ov::Core>();
    the_core->set_property("CPU", ov::hint::inference_precision(ov::element::f32));
  }
  return *the_core;
}

class EndTheCore : public testing::Environment {
  void TearDown() override { the_core.reset(); }
};
const auto* const kEndTheCore = testing::AddGlobalTestEnvironment(new EndTheCore);

template <class T>
void fill_as(ov::Tensor& tensor, unsigned seed, float scale) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> uniform(0.0f, 1.0f);
  for (size_t i = 0; i < tensor.get_size(); ++i) {
    tensor.data<T>()[i] = static_cast<T>(uniform(random) * scale);
  }
}

void fill(ov::Tensor& tensor, unsigned seed) {
  switch (tensor.get_element_type()) {
    case ov::element::u8:
      return fill_as<uint8_t>(tensor, seed, 255.0f);
    case ov::element::i32:
      return fill_as<int32_t>(tensor, seed, 100.0f);
    case ov::element::f16:
      return fill_as<ov::float16>(tensor, seed, 4.0f);
    case ov::element::f32:
      return fill_as<float>(tensor, seed, 4.0f);
    default:
      FAIL() << "no filler for " << tensor.get_element_type();
  }
}

template <class T>
double difference_as(const ov::Tensor& a, const ov::Tensor& b) {
  double most = 0;
  for (size_t i = 0; i < a.get_size(); ++i) {
    const double distance =
        std::fabs(static_cast<double>(a.data<T>()[i]) - static_cast<double>(b.data<T>()[i]));
    most = std::max(most, std::isnan(distance) ? INFINITY : distance);
  }
  return most;
}

double largest_difference(const ov::Tensor& a, const ov::Tensor& b) {
  EXPECT_EQ(a.get_shape(), b.get_shape());
  EXPECT_EQ(a.get_element_type(), b.get_element_type());
  if (a.get_shape() != b.get_shape() || a.get_element_type() != b.get_element_type()) {
    return INFINITY;
  }
  if (a.get_element_type() == ov::element::f16) return difference_as<ov::float16>(a, b);
  if (a.get_element_type() == ov::element::i32) return difference_as<int32_t>(a, b);
  return difference_as<float>(a, b);
}

Tensors inputs_for(const ov::CompiledModel& model, unsigned seed) {
  Tensors tensors;
  for (const auto& port : model.inputs()) {
    tensors.emplace_back(port.get_element_type(), port.get_shape());
    fill(tensors.back(), seed++);
  }
  return tensors;
}

Tensors copies_of_outputs(ov::InferRequest& request, const ov::CompiledModel& model) {
  Tensors copies;
  for (const auto& port : model.outputs()) {
    const ov::Tensor tensor = request.get_tensor(port);
    copies.emplace_back(tensor.get_element_type(), tensor.get_shape());
    tensor.copy_to(copies.back());
  }
  return copies;
}

Tensors infer(const ov::CompiledModel& model, const Tensors& inputs) {
  ov::CompiledModel handle = model;
  ov::InferRequest request = handle.create_infer_request();
  for (size_t i = 0; i < inputs.size(); ++i) request.set_tensor(model.inputs()[i], inputs[i]);
  request.infer();
  return copies_of_outputs(request, model);
}

constexpr double kTolerance = 1e-6;

void expect_same(const Tensors& actual, const Tensors& expected) {
  ASSERT_EQ(actual.size(), expected.size());
  for (size_t i = 0; i < actual.size(); ++i) {
    EXPECT_LE(largest_difference(actual[i], expected[i]), kTolerance) << "output " << i;
  }
}

class PluginTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!loader_is_new_enough()) {
      GTEST_SKIP() << "the plugin needs a Level Zero loader with zeInitDrivers (1.18 or newer)";
    }
  }
};

TEST_F(PluginTest, FindsTheDevice) {
  const auto devices = core().get_available_devices();
  EXPECT_NE(std::find(devices.begin(), devices.end(), "NPU"), devices.end());
  const auto name = core().get_property("NPU", ov::device::full_name);
  EXPECT_EQ(name.rfind("Software NPU", 0), 0u) << name;
  EXPECT_EQ(core().get_property("NPU", ov::device::architecture), "4000");
}

TEST_F(PluginTest, ReadsTheDevicesProperties) {
  EXPECT_GT(core().get_property("NPU", ov::intel_npu::device_total_mem_size), 0u);
  EXPECT_GT(core().get_property("NPU", ov::intel_npu::driver_version), 0u);
  EXPECT_GT(core().get_property("NPU", ov::intel_npu::compiler_version), 0u);
  EXPECT_GT(core().get_property("NPU", ov::intel_npu::max_tiles), 0);
  EXPECT_EQ(core().get_property("NPU", ov::device::type), ov::device::Type::INTEGRATED);
}

class PluginModel : public PluginTest, public testing::WithParamInterface<NamedModel> {
 protected:
  void SetUp() override {
    PluginTest::SetUp();
    if (IsSkipped()) return;
    on_npu_ = core().compile_model(GetParam().make(), "NPU");
    inputs_ = inputs_for(on_npu_, 11);
    expected_ = infer(core().compile_model(GetParam().make(), "CPU"), inputs_);
  }
  ov::CompiledModel on_npu_;
  Tensors inputs_;
  Tensors expected_;
};

TEST_P(PluginModel, EqualsTheCpu) {
  expect_same(infer(on_npu_, inputs_), expected_);
}

TEST_P(PluginModel, EqualsTheCpuWithEitherSerialiser) {
  for (const auto& [version, input] :
       {std::pair{"NO_WEIGHTS_COPY", "weightless"}, std::pair{"ALL_WEIGHTS_COPY", "classic"}}) {
    const auto model =
        core().compile_model(GetParam().make(), "NPU", {{"NPU_MODEL_SERIALIZER_VERSION", version}});
    EXPECT_EQ(last_input(), input);
    expect_same(infer(model, inputs_), expected_);
  }
}

TEST_P(PluginModel, EqualsTheCpuFromAFileThatIsMapped) {
  const npu::test::TempDir folder;
  const std::string xml = folder.path() / "model.xml";
  ov::serialize(GetParam().make(), xml);
  const auto model =
      core().compile_model(xml, "NPU", {{"NPU_MODEL_SERIALIZER_VERSION", "NO_WEIGHTS_COPY"}});
  EXPECT_EQ(last_input(), "weightless");
  expect_same(infer(model, inputs_), expected_);
}

TEST_P(PluginModel, EqualsTheCpuInTheDriversOwnTensors) {
  ov::InferRequest request = on_npu_.create_infer_request();
  for (size_t i = 0; i < inputs_.size(); ++i) {
    ov::Tensor tensor = request.get_tensor(on_npu_.inputs()[i]);
    inputs_[i].copy_to(tensor);
  }
  request.infer();
  expect_same(copies_of_outputs(request, on_npu_), expected_);
}

TEST_P(PluginModel, EqualsTheCpuAfterExportAndImport) {
  std::stringstream blob;
  on_npu_.export_model(blob);
  const auto imported = core().import_model(blob, "NPU");
  ASSERT_EQ(imported.inputs().size(), inputs_.size());
  for (size_t i = 0; i < inputs_.size(); ++i) {
    EXPECT_EQ(imported.inputs()[i].get_names(), on_npu_.inputs()[i].get_names());
  }
  expect_same(infer(imported, inputs_), expected_);
}

// A blob of npucore has OpenVINO's metadata; its own description lies in a gap that OpenVINO skips.
TEST_P(PluginModel, EqualsTheCpuFromABlobOfNpucore) {
  const npu::test::TempDir folder;
  const std::string xml = folder.path() / "model.xml", blob = folder.path() / "model.blob";
  ov::serialize(GetParam().make(), xml);
  npu::CompiledModel::compile(npu::Device::open(npu::DeviceKind::kSoftware), npu::Model::read(xml))
      .export_blob(blob);
  std::ifstream file(blob, std::ios::binary);
  const auto imported = core().import_model(file, "NPU");
  ASSERT_EQ(imported.inputs().size(), inputs_.size());
  expect_same(infer(imported, inputs_), expected_);
}

// And the other way round.
TEST_P(PluginModel, ExportsABlobThatNpucoreImports) {
  const npu::test::TempDir folder;
  const std::string blob = folder.path() / "model.blob";
  {
    std::ofstream file(blob, std::ios::binary);
    on_npu_.export_model(file);
  }
  const auto imported =
      npu::CompiledModel::import(npu::Device::open(npu::DeviceKind::kSoftware), blob);
  ASSERT_EQ(imported.inputs().size(), inputs_.size());
  npu::Request request = imported.create_request();
  for (size_t i = 0; i < inputs_.size(); ++i) {
    std::memcpy(request.input(i).data(), inputs_[i].data(), inputs_[i].get_byte_size());
  }
  request.infer();
  Tensors results;
  for (size_t i = 0; i < expected_.size(); ++i) {
    results.emplace_back(expected_[i].get_element_type(), expected_[i].get_shape());
    std::memcpy(results[i].data(), request.output(i).data(), results[i].get_byte_size());
  }
  expect_same(results, expected_);
}

TEST_P(PluginModel, EqualsTheCpuInManyRequestsAtOnce) {
  std::vector<ov::InferRequest> requests;
  for (int i = 0; i < 8; ++i) {
    requests.push_back(on_npu_.create_infer_request());
    for (size_t k = 0; k < inputs_.size(); ++k) {
      requests.back().set_tensor(on_npu_.inputs()[k], inputs_[k]);
    }
  }
  for (int round = 0; round < 5; ++round) {
    for (auto& request : requests) request.start_async();
    for (auto& request : requests) request.wait();
  }
  for (auto& request : requests) expect_same(copies_of_outputs(request, on_npu_), expected_);
}

TEST_P(PluginModel, EqualsTheCpuFromSeveralThreads) {
  std::vector<Tensors> results(4);
  std::vector<std::thread> threads;
  for (Tensors& result : results) {
    threads.emplace_back([&] {
      for (int i = 0; i < 10; ++i) result = infer(on_npu_, inputs_);
    });
  }
  for (auto& thread : threads) thread.join();
  for (const Tensors& result : results) expect_same(result, expected_);
}

INSTANTIATE_TEST_SUITE_P(Lane, PluginModel, testing::ValuesIn(plugin_models()), by_name);

class PluginHint : public PluginTest,
                   public testing::WithParamInterface<ov::hint::PerformanceMode> {};

TEST_P(PluginHint, CompilesAndEqualsTheCpu) {
  const auto model =
      core().compile_model(conv_relu(), "NPU", ov::hint::performance_mode(GetParam()));
  const Tensors inputs = inputs_for(model, 3);
  expect_same(infer(model, inputs), infer(core().compile_model(conv_relu(), "CPU"), inputs));
}

INSTANTIATE_TEST_SUITE_P(Lane, PluginHint,
                         testing::Values(ov::hint::PerformanceMode::LATENCY,
                                         ov::hint::PerformanceMode::THROUGHPUT));

// --- Remote tensors

class PluginRemote : public PluginTest {
 protected:
  void SetUp() override {
    PluginTest::SetUp();
    if (IsSkipped()) return;
    model_ = core().compile_model(conv_relu(), "NPU");
    input_ = inputs_for(model_, 21)[0];
    expected_ = infer(core().compile_model(conv_relu(), "CPU"), {input_});
  }
  void expect_result(const ov::Tensor& remote_input) {
    ov::InferRequest request = model_.create_infer_request();
    request.set_input_tensor(remote_input);
    request.infer();
    expect_same(copies_of_outputs(request, model_), expected_);
  }
  ov::CompiledModel model_;
  ov::Tensor input_;
  Tensors expected_;
};

TEST_F(PluginRemote, HostTensorIsAnInput) {
  auto context = core().get_default_context("NPU").as<ov::intel_npu::level_zero::ZeroContext>();
  auto tensor = context.create_l0_host_tensor(ov::element::f32, input_.get_shape(),
                                              ov::intel_npu::TensorType::INPUT);
  std::memcpy(tensor.get(), input_.data(), input_.get_byte_size());
  expect_result(tensor);
}

TEST_F(PluginRemote, HostTensorIsAnOutput) {
  auto context = core().get_default_context("NPU").as<ov::intel_npu::level_zero::ZeroContext>();
  auto tensor = context.create_l0_host_tensor(ov::element::f32, model_.output().get_shape(),
                                              ov::intel_npu::TensorType::OUTPUT);
  ov::InferRequest request = model_.create_infer_request();
  request.set_input_tensor(input_);
  request.set_output_tensor(tensor);
  request.infer();
  const ov::Tensor view(ov::element::f32, model_.output().get_shape(), tensor.get());
  EXPECT_LE(largest_difference(view, expected_[0]), kTolerance);
}

TEST_F(PluginRemote, FileDescriptorIsAnInput) {
  const int fd = memfd_create("lane", MFD_CLOEXEC);
  ASSERT_GE(fd, 0);
  const size_t bytes = input_.get_byte_size();
  ASSERT_EQ(ftruncate(fd, static_cast<off_t>(bytes)), 0);
  ASSERT_EQ(pwrite(fd, input_.data(), bytes, 0), static_cast<ssize_t>(bytes));
  auto context = core().get_default_context("NPU").as<ov::intel_npu::level_zero::ZeroContext>();
  expect_result(context.create_tensor(ov::element::f32, input_.get_shape(), fd));
  close(fd);
}

// --- Weights by address

TEST_F(PluginTest, QueriesWithoutCopiedWeights) {
  const auto model = conv_relu();
  const ov::SupportedOpsMap supported =
      core().query_model(model, "NPU", {{"NPU_MODEL_SERIALIZER_VERSION", "NO_WEIGHTS_COPY"}});
  for (const auto& node : model->get_ordered_ops()) {
    EXPECT_EQ(supported.count(node->get_friendly_name()), 1u) << node->get_friendly_name();
  }
}

// --- Dimensions in bounds, and the batch

struct Varying : Named {
  const char* shape;
  const char* batch_mode;
  std::vector<ov::Shape> sizes;
};
class PluginBounds : public PluginTest, public testing::WithParamInterface<Varying> {};

// One request runs all sizes: the driver has to be told each run's sizes, and tells the results'.
TEST_P(PluginBounds, EqualTheCpu) {
  const auto model = conv_relu();
  model->get_parameters()[0]->set_layout("NCHW");
  model->get_results()[0]->set_layout("NCHW");
  model->reshape(ov::PartialShape(GetParam().shape));
  auto on_cpu = core().compile_model(model, "CPU");
  auto on_npu = core().compile_model(model, "NPU", {{"NPU_BATCH_MODE", GetParam().batch_mode}});
  ov::InferRequest expected = on_cpu.create_infer_request();
  ov::InferRequest request = on_npu.create_infer_request();
  for (const ov::Shape& size : GetParam().sizes) {
    ov::Tensor input(ov::element::f32, size);
    fill(input, 5);
    expected.set_input_tensor(input);
    expected.infer();
    request.set_input_tensor(input);
    request.infer();
    EXPECT_LE(largest_difference(request.get_output_tensor(), expected.get_output_tensor()),
              kTolerance)
        << size;
  }
}

const std::vector<ov::Shape> kBatches = {{2, 3, 32, 32}, {4, 3, 32, 32}, {1, 3, 32, 32}};
const std::vector<ov::Shape> kHeights = {{1, 3, 16, 32}, {1, 3, 32, 32}, {1, 3, 8, 32}};

INSTANTIATE_TEST_SUITE_P(
    Lane, PluginBounds,
    testing::Values(Varying{"batch_compiler", "1..4,3,32,32", "COMPILER", kBatches},
                    Varying{"batch_plugin", "1..4,3,32,32", "PLUGIN", kBatches},
                    Varying{"batch_auto", "1..4,3,32,32", "AUTO", kBatches},
                    Varying{"fixed_batch_plugin", "4,3,32,32", "PLUGIN", {{4, 3, 32, 32}}},
                    Varying{"fixed_batch_compiler", "4,3,32,32", "COMPILER", {{4, 3, 32, 32}}},
                    Varying{"height", "1,3,8..32,32", "COMPILER", kHeights}),
    by_name);

// --- States

TEST_F(PluginTest, CarriesSeveralStates) {
  const auto model = three_states();
  auto on_cpu = core().compile_model(model, "CPU");
  auto on_npu = core().compile_model(model, "NPU");
  ov::InferRequest expected = on_cpu.create_infer_request();
  ov::InferRequest request = on_npu.create_infer_request();
  EXPECT_EQ(request.query_state().size(), 3u);
  ov::Tensor input(ov::element::f32, {1, 4});
  fill(input, 5);
  for (ov::InferRequest* one : {&expected, &request}) one->set_input_tensor(input);
  for (int round = 0; round < 3; ++round) {
    expected.infer();
    request.infer();
    EXPECT_LE(largest_difference(request.get_output_tensor(), expected.get_output_tensor()),
              kTolerance)
        << round;
  }
}

// --- Constants without elements

void expect_twice(const ov::AnyMap& properties) {
  const auto model = core().compile_model(doubled_by_a_scalar(), "NPU", properties);
  const Tensors inputs = inputs_for(model, 5);
  const Tensors results = infer(model, inputs);
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(results[0].data<float>()[i], 2 * inputs[0].data<float>()[i]);
  }
}

TEST_F(PluginTest, TakesAConstantWithoutElements) {
  expect_twice({});
}

TEST_F(PluginTest, TakesAConstantWithoutElementsWithoutCopiedWeights) {
  expect_twice({{"NPU_MODEL_SERIALIZER_VERSION", "NO_WEIGHTS_COPY"}});
}

// --- What must fail, and fail as an exception

TEST_F(PluginTest, RefusesACutBlob) {
  std::stringstream blob;
  core().compile_model(conv_relu(), "NPU").export_model(blob);
  std::stringstream cut(blob.str().substr(0, blob.str().size() / 2));
  EXPECT_THROW(core().import_model(cut, "NPU"), ov::Exception);
}

TEST_F(PluginTest, RefusesABlobWhoseElfIsDamaged) {
  std::stringstream blob;
  core().compile_model(conv_relu(), "NPU").export_model(blob);
  std::string bytes = blob.str();
  std::fill(bytes.begin() + 16, bytes.begin() + 64, '\x5a');
  std::stringstream damaged(bytes);
  EXPECT_THROW(core().import_model(damaged, "NPU"), ov::Exception);
}

TEST_F(PluginTest, RefusesAnUnboundedDynamicDimension) {
  auto model = conv_relu();
  model->reshape(ov::PartialShape{1, 3, -1, 32});
  EXPECT_THROW(core().compile_model(model, "NPU"), ov::Exception);
}

TEST_F(PluginTest, QueriesWhatTheCompilerTakes) {
  const auto model = conv_relu();
  const ov::SupportedOpsMap supported = core().query_model(model, "NPU");
  for (const auto& node : model->get_ordered_ops()) {
    EXPECT_EQ(supported.count(node->get_friendly_name()), 1u) << node->get_friendly_name();
  }
}

}  // namespace
}  // namespace lanes
