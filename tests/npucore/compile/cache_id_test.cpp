// CACHE_ID: entries of CACHE_DIR that are found by the caller's own name, without the model.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <iterator>
#include <optional>
#include <vector>

#include <npucore/npucore.hpp>

#include "cached.hpp"

namespace npu::test {
namespace {

namespace fs = std::filesystem;

class CacheId : public Cached {
 protected:
  CompileOptions options(const std::string& more = "") const {
    CompileOptions all;
    all.properties = Properties::parse(more).over(Properties()
                                                      .set(property::cache_dir, cache_.string())
                                                      .set(property::cache_id, "detector v3"));
    return all;
  }
  LoadedFrom compile(const std::string& more = "") {
    return CompiledModel::compile(device_, Model::read(model_), options(more)).load_stats().from;
  }
  std::optional<CompiledModel> load(const std::string& more = "") {
    return CompiledModel::load_cached(device_, options(more));
  }
  std::size_t entries() const {
    return static_cast<std::size_t>(
        std::distance(fs::directory_iterator(cache_), fs::directory_iterator()));
  }
  /// The model's answer to threes.
  static float answer_of(const CompiledModel& model) {
    Request request = model.create_request();
    std::fill_n(reinterpret_cast<float*>(request.input(0).data()), kAffineElements, 3.F);
    request.infer();
    return reinterpret_cast<const float*>(request.output(0).data())[5];
  }
};

TEST_F(CacheId, FindsAModelWhoseFilesAreGone) {
  EXPECT_EQ(compile(), LoadedFrom::kCompiler);
  fs::remove(model_);
  fs::remove(fs::path(model_).replace_extension(".bin"));
  const auto model = load();
  ASSERT_TRUE(model);
  EXPECT_EQ(model->load_stats().from, LoadedFrom::kCache);
  EXPECT_GT(model->load_stats().load_ns, 0U);
  EXPECT_EQ(model->get_property("NETWORK_NAME"), "affine");
  EXPECT_EQ(model->get_property(property::cache_id), "detector v3");
  EXPECT_EQ(model->input_index("x"), 0U);
  EXPECT_EQ(model->output_index("y"), 0U);
  EXPECT_EQ(answer_of(*model), affine(3));
  EXPECT_EQ(warnings_, "");
}

TEST_F(CacheId, KeepsFramesAndWhatIsKnownOfTheModel) {
  auto model = Model::read(model_);
  model.set_model_info("labels", "cat dog");
  auto preprocess = model.default_preprocess(FrameLayout::tight(PixelFormat::kRGB, 8, 8));
  model.add_preprocess(preprocess);
  CompiledModel::compile(device_, model, options());
  const auto loaded = load();
  ASSERT_TRUE(loaded);
  ASSERT_TRUE(loaded->frame_input());
  EXPECT_EQ(loaded->frame_input()->preprocess.frame, preprocess.frame);
  EXPECT_EQ(loaded->model_info().at("labels"), "cat dog");
  EXPECT_EQ(CompiledModel::compile(device_, model, options()).load_stats().from, LoadedFrom::kCache)
      << "the same frames are the same model";
}

TEST_F(CacheId, KeepsAStatesBeginning) {
  const auto sum = Model::read(write_sum_model(folder_.path()));
  CompiledModel::compile(device_, sum, options());
  const auto loaded = load();
  ASSERT_TRUE(loaded);
  Request request = loaded->create_request();
  std::fill_n(reinterpret_cast<float*>(request.input(0).data()), 4, 1.F);
  request.infer();
  EXPECT_EQ(reinterpret_cast<const float*>(request.output(0).data())[3], 41.F);
  EXPECT_EQ(CompiledModel::compile(device_, sum, options()).load_stats().from, LoadedFrom::kCache);
}

TEST_F(CacheId, FindsNothingWhereNothingIs) {
  EXPECT_FALSE(load());
  compile();
  EXPECT_FALSE(load("CACHE_ID=\"detector v4\""));
  EXPECT_EQ(warnings_, "");
}

TEST_F(CacheId, ReadsNoWeightsOnAHit) {
  IrWriter ir("large");
  const IrShape shape{1, 1, 1024, 1024};  // 4 MiB: mapped
  const auto x = ir.parameter("input", "f32", shape);
  ir.result(
      ir.binary("Add", x, ir.constant("weights", std::vector<float>(1024UL * 1024, 1.F), shape)));
  const auto file = ir.write(folder_.path(), "large");
  const auto weights = fs::path(file).replace_extension(".bin");
  CompiledModel::compile(device_, Model::read(file), options());
  const auto model = Model::read(file);
  fs::last_write_time(weights, fs::file_time_type::clock::now() + std::chrono::hours(1));
  expect_error(ErrorCode::kIo, "was changed while it was in use",
               [&] { CompiledModel::compile(device_, model); });
  EXPECT_EQ(CompiledModel::compile(device_, model, options()).load_stats().from,
            LoadedFrom::kCache);
}

TEST_F(CacheId, StandsBesideTheModelsOwnEntry) {
  compile();
  EXPECT_EQ(compile("CACHE_ID=\"\""), LoadedFrom::kCompiler);
  EXPECT_EQ(compile("CACHE_ID=\"\""), LoadedFrom::kCache);
  EXPECT_EQ(entries(), 2U);
}

TEST_F(CacheId, MayBeAnyText) {
  for (const char* id : {"../../etc/passwd", "a=b, c", "Prüfer", "model 1"}) {
    const auto named = Properties().set(property::cache_id, id).to_string();
    EXPECT_EQ(compile(named), LoadedFrom::kCompiler) << id;
    EXPECT_TRUE(load(named)) << id;
  }
  EXPECT_EQ(entries(), 4U);
  expect_error(ErrorCode::kInvalidArgument, "without quotes or line breaks",
               [] { Properties().set(property::cache_id, "a\nid b"); });
}

TEST_F(CacheId, KnowsWhatABlobDependsOn) {
  compile();
  for (const CachedRow& row : kCachedRows) {
    EXPECT_EQ(load(row.properties).has_value(), row.same_entry) << row.name;
  }
  CompileOptions unchecked = options();
  unchecked.config["NPU_BATCH_MODE"] = "COMPILER";
  EXPECT_FALSE(CompiledModel::load_cached(device_, unchecked));
  EXPECT_EQ(warnings_, "");
}

/// A machine after an update, or another machine that shares the folder.
struct UpdateRow {
  const char* name;
  void (*change)(DeviceInfo&);
};

class CacheIdAfterAnUpdate : public CacheId, public ::testing::WithParamInterface<UpdateRow> {};

TEST_P(CacheIdAfterAnUpdate, FindsNothing) {
  compile();
  // The software NPU has one version of each: the answers that the library holds are changed.
  auto& info = const_cast<DeviceInfo&>(device_.info());
  const DeviceInfo before = info;
  GetParam().change(info);
  const bool found = load().has_value();
  info = before;
  EXPECT_FALSE(found);
  EXPECT_TRUE(load()) << "the old driver's is still there";
  EXPECT_EQ(warnings_, "");
}

INSTANTIATE_TEST_SUITE_P(
    Rows, CacheIdAfterAnUpdate,
    ::testing::Values(UpdateRow{"Driver", [](DeviceInfo& device) { ++device.driver_version; }},
                      UpdateRow{"Extension",
                                [](DeviceInfo& device) { ++device.graph_extension.patch; }},
                      UpdateRow{"Compiler", [](DeviceInfo& device) { ++device.compiler.patch; }},
                      UpdateRow{"NoCompiler", [](DeviceInfo& device) { device.compiler = {}; }},
                      UpdateRow{"Runtime", [](DeviceInfo& device) { ++device.blob_runtime.patch; }},
                      UpdateRow{"PciId", [](DeviceInfo& device) { ++device.pci_device_id; }},
                      UpdateRow{"Tiles", [](DeviceInfo& device) { ++device.tiles; }}),
    by_name);

/// The affine model with other weights: four times the input, plus one.
fs::path write_other_model(const fs::path& folder) {
  const float weights[] = {4, 1};
  write_file(folder / "affine.bin", {reinterpret_cast<const char*>(weights), sizeof(weights)});
  return folder / "affine.xml";
}

TEST_F(CacheId, IsTheCallersWordForTheModel) {
  compile();
  write_other_model(folder_.path());
  const auto model = CompiledModel::compile(device_, Model::read(model_), options());
  EXPECT_EQ(model.load_stats().from, LoadedFrom::kCache);
  EXPECT_EQ(answer_of(model), affine(3)) << "nobody looks at weights";
}

TEST_F(CacheId, IsCompiledAnewWhenAskedFor) {
  compile();
  write_other_model(folder_.path());
  CompileOptions anew = options();
  anew.replace_cached = true;
  const auto model = CompiledModel::compile(device_, Model::read(model_), anew);
  EXPECT_EQ(model.load_stats().from, LoadedFrom::kCompiler);
  const auto loaded = load();
  ASSERT_TRUE(loaded);
  EXPECT_EQ(answer_of(*loaded), 13.F);
  EXPECT_EQ(entries(), 1U);
}

TEST_F(CacheId, IsFreeWhereTheNewModelCouldNotBeKept) {
  compile();
  CompileOptions anew = options("CACHE_SIZE=100");
  anew.replace_cached = true;
  CompiledModel::compile(device_, Model::read(model_), anew);
  EXPECT_TRUE(has(warnings_, "is deleted: the model that replaces it was not kept"));
  EXPECT_FALSE(load()) << "it would be the old model";
}

TEST_F(CacheId, OfAModelWithOtherSizesIsReplacedWithAWarning) {
  compile();
  auto model = Model::read(model_);
  model.reshape({{"x", {1, 3, 8, 8}}});
  EXPECT_EQ(CompiledModel::compile(device_, model, options()).load_stats().from,
            LoadedFrom::kCompiler);
  EXPECT_TRUE(has(warnings_, "'detector v3' of the cache was made of another model"));
  const auto loaded = load();
  ASSERT_TRUE(loaded);
  EXPECT_EQ(loaded->inputs()[0].shape, (Shape{1, 3, 8, 8}));
  EXPECT_EQ(entries(), 1U);
}

TEST_F(CacheId, OfAModelWithOtherFramesIsReplacedWithAWarning) {
  const auto with_frames = [&](ColorMatrix matrix) {
    auto model = Model::read(model_);
    FrameLayout frame = FrameLayout::tight(PixelFormat::kNV12, 8, 8);
    frame.matrix = matrix;
    model.add_preprocess(model.default_preprocess(frame));
    return CompiledModel::compile(device_, model, options()).load_stats().from;
  };
  EXPECT_EQ(with_frames(ColorMatrix::kBT601), LoadedFrom::kCompiler);
  EXPECT_EQ(with_frames(ColorMatrix::kBT709), LoadedFrom::kCompiler) << "its sizes are the same";
  EXPECT_TRUE(has(warnings_, "was made of another model"));
  EXPECT_EQ(with_frames(ColorMatrix::kBT709), LoadedFrom::kCache);
}

TEST_F(CacheId, StaysWhereADeviceDoesNotTakeIt) {
  compile();
  set_fault("pfnCreate3:ERROR_UNKNOWN@1");
  EXPECT_FALSE(load());
  EXPECT_TRUE(has(warnings_, "'detector v3' of the cache is not used: pfnCreate3"));
  EXPECT_TRUE(load()) << "there may be no model to compile";
  set_fault("pfnCreate3:ERROR_UNKNOWN@1");
  EXPECT_EQ(compile(), LoadedFrom::kCompiler);
}

TEST_F(CacheId, DropsADamagedEntry) {
  compile();
  const fs::path entry = fs::directory_iterator(cache_)->path();
  const std::string whole = read_file(entry);
  write_file(entry, whole.substr(0, whole.size() - 1));
  EXPECT_FALSE(load());
  EXPECT_TRUE(has(warnings_, "is deleted: it was truncated or changed"));
  EXPECT_EQ(compile(), LoadedFrom::kCompiler);
  EXPECT_TRUE(load());
}

TEST_F(CacheId, NeedsAFolderAndIsNoDevices) {
  expect_error(ErrorCode::kInvalidArgument, "set CACHE_DIR", [&] { compile("CACHE_DIR=\"\""); });
  expect_error(ErrorCode::kInvalidArgument, "set CACHE_DIR", [&] { load("CACHE_DIR=\"\""); });
  expect_error(ErrorCode::kInvalidArgument, "set the property CACHE_ID",
               [&] { load("CACHE_ID=\"\""); });
  expect_error(ErrorCode::kInvalidArgument, "belongs to one model",
               [&] { device_.set_property("CACHE_ID", "x"); });
}

TEST_F(CacheId, IsForJobsToo) {
  const auto from = [&] {
    return compile_async(device_, Model::read(model_), options()).get().load_stats().from;
  };
  EXPECT_EQ(from(), LoadedFrom::kCompiler);
  EXPECT_EQ(from(), LoadedFrom::kCache);
  EXPECT_TRUE(load());
}

}  // namespace
}  // namespace npu::test
