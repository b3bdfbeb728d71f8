#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <thread>

#include <npucore/compiled_model.hpp>
#include <npucore/importer.hpp>

#include "support.hpp"

namespace npu::test::compiled_model_test {
namespace {

void fill(const Tensor& tensor, float first) {
  auto* values = reinterpret_cast<float*>(tensor.data());
  for (std::size_t index = 0; index < kAffineElements; ++index) {
    values[index] = first + static_cast<float>(index) - 20;
  }
}

/// How many elements are not what the model makes of fill(first).
std::size_t wrong(const Tensor& tensor, float first) {
  const auto* values = reinterpret_cast<const float*>(tensor.data());
  std::size_t count = 0;
  for (std::size_t index = 0; index < kAffineElements; ++index) {
    count += values[index] != affine(first + static_cast<float>(index) - 20);
  }
  return count;
}

class Models : public OnSoftwareNpu {
 protected:
  CompiledModel compile(const CompileOptions& options = {}) {
    return CompiledModel::compile(device_, Model::read(write_affine_model(folder_.path())),
                                  options);
  }
  std::size_t infer_wrong(const CompiledModel& model, float first) {
    Request request = model.create_request();
    fill(request.input(0), first);
    request.infer();
    return wrong(request.output(0), first);
  }

  TempDir folder_;
};

TEST_F(Models, HaveTheirPorts) {
  const CompiledModel model = compile();
  ASSERT_EQ(model.inputs().size(), 1u);
  ASSERT_EQ(model.outputs().size(), 1u);
  const Port& input = model.inputs()[0];
  EXPECT_TRUE(input.answers_to("x"));
  EXPECT_TRUE(input.answers_to("input"));
  EXPECT_EQ(to_string(input.type), std::string("f32"));
  EXPECT_EQ(to_string(input.shape), "[1,3,4,4]");
  EXPECT_EQ(model.output_index("y"), 0u);
  EXPECT_EQ(model.device().info().name, device_.info().name);
}

TEST_F(Models, ListTheNamesThereAreWhenOneIsUnknown) {
  const CompiledModel model = compile();
  expect_error(ErrorCode::kNotFound, "no input is called 'z'; there are: input",
               [&] { model.input_index("z"); });
}

TEST_F(Models, Compute) {
  EXPECT_EQ(infer_wrong(compile(), 3), 0u);
}

TEST_F(Models, TellTheirCompileTime) {
  const LoadStats stats = compile().load_stats();
  EXPECT_GT(stats.compile_ns, 0u);
  EXPECT_FALSE(stats.loaded_from_driver_cache);
}

TEST_F(Models, CompileWithEveryPriorityAndTurbo) {
  for (const Priority priority : {Priority::kLow, Priority::kMedium, Priority::kHigh}) {
    CompileOptions options;
    options.properties.set(property::priority, priority)
        .set(property::turbo, priority == Priority::kHigh)
        .set(property::bypass_driver_cache, true);
    EXPECT_EQ(infer_wrong(compile(options), 1), 0u);
  }
}

TEST_F(Models, RunWithProfiling) {
  CompileOptions options;
  options.properties.set(property::profiling, true);
  EXPECT_EQ(infer_wrong(compile(options), 1), 0u);
}

TEST_F(Models, RefuseOptionsThatCannotBePassedOn) {
  CompileOptions options;
  options.config["NPU_TILES"] = "\"2\"";
  expect_error(ErrorCode::kInvalidArgument, "compiler option NPU_TILES", [&] { compile(options); });
}

TEST_F(Models, OutliveTheModelObjectThroughTheirRequests) {
  auto model = std::make_unique<CompiledModel>(compile());
  Request request = model->create_request();
  model.reset();
  fill(request.input(0), 9);
  request.infer();
  EXPECT_EQ(wrong(request.output(0), 9), 0u);
}

TEST_F(Models, OutputsOutliveTheirRequest) {
  Tensor output;
  {
    Request request = compile().create_request();
    fill(request.input(0), 4);
    request.infer();
    output = request.output(0);
  }
  EXPECT_EQ(wrong(output, 4), 0u);
}

TEST_F(Models, RunOnTensorsOfTheCaller) {
  Request request = compile().create_request();
  const std::size_t bytes = kAffineElements * sizeof(float);
  const Tensor in = Tensor::allocate(device_, 4096 + bytes, MemoryUse::kInput).slice(4096, bytes);
  const Tensor out = Tensor::allocate(device_, bytes, MemoryUse::kOutput);
  request.set_input(0, in);
  request.set_output(0, out);
  fill(in, 2);
  request.infer();
  EXPECT_EQ(wrong(out, 2), 0u);
}

TEST_F(Models, RunOnAnImportedBuffer) {
  const int fd = make_memfd(4096);
  const Tensor in = Importer(device_).import(fd);
  Request request = compile().create_request();
  request.set_input(0, in);
  fill(in, 6);
  request.infer();
  EXPECT_EQ(wrong(request.output(0), 6), 0u);
  ::close(fd);
}

TEST_F(Models, SeeEveryRebinding) {
  Request request = compile().create_request();
  const std::size_t bytes = kAffineElements * sizeof(float);
  Tensor in[2] = {Tensor::allocate(device_, bytes, MemoryUse::kInput),
                  Tensor::allocate(device_, bytes, MemoryUse::kInput)};
  for (int round = 0; round < 6; ++round) {
    request.set_input(0, in[round % 2]);
    if (round == 3) {
      request.set_output(0, Tensor::allocate(device_, bytes, MemoryUse::kOutput));
    }
    fill(in[round % 2], static_cast<float>(round));
    request.infer();
    EXPECT_EQ(wrong(request.output(0), static_cast<float>(round)), 0u) << "round " << round;
  }
}

TEST_F(Models, SeeNewContentsOfTheSameTensor) {
  Request request = compile().create_request();
  for (const float first : {1.f, 2.f, 3.f}) {
    fill(request.input(0), first);
    request.infer();
    EXPECT_EQ(wrong(request.output(0), first), 0u);
  }
}

TEST_F(Models, RunFromManyThreadsEachWithItsOwnTensors) {
  const CompiledModel model = compile();
  const std::size_t bytes = kAffineElements * sizeof(float);
  std::atomic<std::size_t> bad = 0;
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&, thread] {
      Request request = model.create_request();
      for (int round = 0; round < 40; ++round) {
        const float first = static_cast<float>(thread * 100 + round);
        const Tensor in = Tensor::allocate(device_, bytes, MemoryUse::kInput);
        fill(in, first);
        request.set_input(0, in);
        request.infer();
        bad += wrong(request.output(0), first);
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(bad, 0u);
}

TEST_F(Models, RefuseATensorThatIsTooSmall) {
  Request request = compile().create_request();
  expect_error(ErrorCode::kInvalidArgument,
               "the tensor for 'input' has 191 bytes, f32[1,3,4,4] needs 192",
               [&] { request.set_input(0, Tensor::allocate(device_, 191, MemoryUse::kInput)); });
  expect_error(ErrorCode::kInvalidArgument, "has 0 bytes", [&] { request.set_output(0, {}); });
}

TEST_F(Models, RefuseAPortThatIsNotThere) {
  Request request = compile().create_request();
  expect_error(ErrorCode::kInvalidArgument, "input 1 was requested, but the model has 1",
               [&] { request.input(1); });
}

TEST_F(Models, ThatTheCompilerRefusesShowTheDriversLog) {
  const auto xml = write_affine_model(folder_.path());
  std::string text = read_file(xml);
  const std::string relu = "type=\"ReLU\"";
  text.replace(text.find(relu), relu.size(), "type=\"NoSuchOperator\"");
  write_file(xml, text);
  try {
    CompiledModel::compile(device_, Model::read(xml));
    FAIL() << "an unknown operator compiled";
  } catch (const Error& error) {
    EXPECT_TRUE(error.code() == ErrorCode::kCompileFailed ||
                error.code() == ErrorCode::kUnsupported)
        << error.what();
    EXPECT_TRUE(has(error.what(), "NoSuchOperator"));
  }
}

// ---- Files that change or are none

TEST_F(Models, AndBlobsThatAreFifosAreRefusedAndNotWaitedFor) {
  const auto xml = write_affine_model(folder_.path()), fifo = folder_.path() / "fifo";
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  const char* why = "it is a FIFO, not a regular file";
  expect_error(ErrorCode::kIo, why, [&] { Model::read(fifo); });
  expect_error(ErrorCode::kIo, why, [&] { Model::read(xml, fifo); });
  expect_error(ErrorCode::kIo, why, [&] { CompiledModel::import(device_, fifo); });
  expect_error(ErrorCode::kIo, why, [&] { read_blob_info(fifo); });
}

TEST_F(Models, WithASmallBinThatIsTruncatedInPlaceCompileAllTheSame) {
  const Model model = Model::read(write_affine_model(folder_.path()));
  ASSERT_EQ(::truncate((folder_.path() / "affine.bin").c_str(), 0), 0);
  EXPECT_EQ(infer_wrong(CompiledModel::compile(device_, model), 5), 0u);
}

TEST_F(Models, WithALargeBinThatIsTruncatedInPlaceAreAnError) {
  const auto xml = write_affine_model(folder_.path()), bin = folder_.path() / "affine.bin";
  std::filesystem::resize_file(bin, std::uintmax_t{17} << 20);
  const Model model = Model::read(xml);
  ASSERT_EQ(::truncate(bin.c_str(), 0), 0);
  expect_error(ErrorCode::kIo, "was changed while it was in use",
               [&] { CompiledModel::compile(device_, model); });
}

/// In this process and in a helper, by copy and by address.
TEST_F(Models, InMemoryAreCompiledAsFilesAre) {
  const auto path = write_affine_model(folder_.path());
  const std::string xml = read_file(path);
  const auto weights = std::make_shared<const std::string>(
      read_file(std::filesystem::path(path).replace_extension(".bin")));
  const Model model = Model::read(xml, std::as_bytes(std::span(*weights)), weights);
  std::filesystem::remove(path);
  for (const char* where : {"in-process", "helper"}) {
    for (const char* serializer : {"ALL_WEIGHTS_COPY", "NO_WEIGHTS_COPY"}) {
      SCOPED_TRACE(std::string(where) + ' ' + serializer);
      CompileOptions options;
      options.properties.set(property::compile_in, where);
      options.properties.set("NPU_MODEL_SERIALIZER_VERSION", serializer);
      Request request = CompiledModel::compile(device_, model, options).create_request();
      std::ranges::fill(request.input("x").as<float>(), 4.F);
      request.infer();
      EXPECT_EQ(request.output("y").as<float>()[0], affine(4));
    }
  }
}

class Blobs : public Models {
 protected:
  std::filesystem::path exported() {
    const auto path = folder_.path() / "affine.blob";
    compile().export_blob(path);
    return path;
  }
};

TEST_F(Blobs, ComputeLikeTheModel) {
  EXPECT_EQ(infer_wrong(CompiledModel::import(device_, exported()), 5), 0u);
}

TEST_F(Blobs, KeepThePorts) {
  const CompiledModel before = compile();
  const CompiledModel after = CompiledModel::import(device_, exported());
  EXPECT_EQ(after.inputs()[0].name, before.inputs()[0].name);
  EXPECT_EQ(after.outputs()[0].tensor_names, before.outputs()[0].tensor_names);
  EXPECT_EQ(after.outputs()[0].shape, before.outputs()[0].shape);
}

TEST_F(Blobs, LoadFromMemoryThatGoesAway) {
  std::string bytes = read_file(exported());
  const CompiledModel model =
      CompiledModel::import(device_, std::as_bytes(std::span(bytes.data(), bytes.size())));
  std::fill(bytes.begin(), bytes.end(), '\0');
  EXPECT_EQ(infer_wrong(model, 7), 0u);
}

TEST_F(Blobs, LoadBareElfs) {
  const auto native = compile().native_binary();
  ASSERT_GT(native.size(), 4u);
  EXPECT_EQ(std::string(reinterpret_cast<const char*>(native.data()), 4),
            "\x7f"
            "ELF");
  const auto path = folder_.path() / "bare.elf";
  write_file(path, {reinterpret_cast<const char*>(native.data()), native.size()});
  EXPECT_EQ(infer_wrong(CompiledModel::import(device_, path), 8), 0u);
  EXPECT_EQ(infer_wrong(CompiledModel::import(device_, native), 8), 0u);
}

TEST_F(Blobs, CanBeExportedAgain) {
  const auto again = folder_.path() / "again.blob";
  CompiledModel::import(device_, exported()).export_blob(again);
  EXPECT_EQ(infer_wrong(CompiledModel::import(device_, again), 2), 0u);
}

TEST_F(Blobs, SurviveTheFilesReplacement) {
  const auto path = exported();
  const CompiledModel model = CompiledModel::import(device_, path);
  compile().export_blob(path);
  EXPECT_EQ(infer_wrong(model, 2), 0u);
}

TEST_F(Blobs, SurviveThatTheFileIsOverwrittenInPlace) {
  const auto path = exported();
  const CompiledModel model = CompiledModel::import(device_, path);
  ASSERT_EQ(::truncate(path.c_str(), 0), 0);
  EXPECT_EQ(infer_wrong(model, 2), 0u);
  write_file(path, std::string(100000, 'x'));
  EXPECT_EQ(infer_wrong(model, 3), 0u);
  EXPECT_NO_THROW(model.export_blob(folder_.path() / "again.blob"));
}

TEST_F(Blobs, OfALargeFileThatWasTruncatedAreAnError) {
  const auto path = folder_.path() / "bare.elf";
  const auto native = compile().native_binary();
  write_file(path, {reinterpret_cast<const char*>(native.data()), native.size()});
  std::filesystem::resize_file(path, std::uintmax_t{17} << 20);
  const CompiledModel model = CompiledModel::import(device_, path);
  ASSERT_EQ(::truncate(path.c_str(), 0), 0);
  expect_error(ErrorCode::kIo, "was changed while it was in use",
               [&] { model.export_blob(folder_.path() / "again.blob"); });
}

TEST_F(Blobs, ThatAreMissingAreNamed) {
  expect_error(ErrorCode::kNotFound, "/no/such.blob",
               [&] { CompiledModel::import(device_, "/no/such.blob"); });
}

TEST_F(Blobs, ThatAreDamagedAreOneErrorEach) {
  const std::string whole = read_file(exported());
  const auto path = folder_.path() / "damaged.blob";
  for (const std::size_t size : {0ul, 3ul, 64ul, 100ul, 1000ul, 4100ul, whole.size() - 1}) {
    write_file(path, whole.substr(0, size));
    try {
      CompiledModel::import(device_, path);
      ADD_FAILURE() << "a blob cut to " << size << " of " << whole.size() << " bytes was loaded";
    } catch (const Error& error) {
      EXPECT_TRUE(has(error.what(), "damaged.blob"));
      EXPECT_TRUE(error.code() == ErrorCode::kInvalidArgument ||
                  error.code() == ErrorCode::kIncompatible)
          << to_string(error.code()) << ": " << error.what();
    }
  }
}

TEST_F(Blobs, ThatAreNoBlobsAreRefused) {
  const auto path = folder_.path() / "text.blob";
  write_file(path, "this is a text file, and a rather short one");
  expect_error(ErrorCode::kInvalidArgument, "text.blob",
               [&] { CompiledModel::import(device_, path); });
}

}  // namespace
}  // namespace npu::test::compiled_model_test
