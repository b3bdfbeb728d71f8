// Properties of a device and of a compiled model, on the software NPU.
#include <gtest/gtest.h>

#include <sstream>

#include <npucore/npucore.hpp>

#include "support.hpp"

namespace npu::test {
namespace {

class DeviceProperties : public OnSoftwareNpu {
 protected:
  CompiledModel compile(const CompileOptions& options = {}) {
    return CompiledModel::compile(device_, Model::read(write_affine_model(folder_.path())),
                                  options);
  }
  TempDir folder_;
};

TEST_F(DeviceProperties, AnswerEachName) {
  for (const auto& info : known_properties()) {
    if (!info.of_device) continue;
    SCOPED_TRACE(info.name);
    const bool may_be_empty = info.access == Access::kReadWrite;
    EXPECT_TRUE(!device_.get_property(info.name).empty() || may_be_empty);
  }
}

TEST_F(DeviceProperties, AreThoseOfTheDevice) {
  const DeviceInfo& info = device_.info();
  EXPECT_EQ(device_.get_property(property::full_device_name), info.name);
  EXPECT_EQ(device_.get_property(property::device_architecture), info.platform);
  EXPECT_EQ(device_.get_property("DEVICE_PCI_INFO"), info.pci_address);
  EXPECT_EQ(device_.get_property("NPU_DRIVER_VERSION"), std::to_string(info.driver_version));
  EXPECT_EQ(device_.get_property(property::max_tiles), info.tiles);
  EXPECT_EQ(device_.get_property("DEVICE_UUID").size(), 32u);
  EXPECT_EQ(device_.get_property("AVAILABLE_DEVICES"), info.platform);
  EXPECT_EQ(device_.get_property("NPU_COMPILER_VERSION"),
            std::to_string(info.compiler.major << 16 | info.compiler.minor));
}

TEST_F(DeviceProperties, BelongToEveryDeviceOfTheContext) {
  const Device again = Device::open(DeviceKind::kSoftware);
  EXPECT_TRUE(again == device_);
  EXPECT_TRUE(compile().device() == device_);
  EXPECT_EQ(&again.info(), &device_.info());
  device_.set_property(property::turbo, true);
  EXPECT_TRUE(again.get_property(property::turbo));
  device_.set_property(property::turbo, false);
}

// A text converts to bool as a pointer does: any would be true.
TEST_F(DeviceProperties, TakeATextForAFlag) {
  device_.set_property(property::turbo, "NO");
  EXPECT_FALSE(device_.get_property(property::turbo));
  EXPECT_THROW(device_.set_property(property::turbo, "perhaps"), Error);
  CompiledModel model = compile();
  EXPECT_THROW(model.set_property(property::turbo, "NO"), Error) << "cannot be changed any more";
}

TEST_F(DeviceProperties, TellWhatIsAllocated) {
  const DeviceMemory before = device_.memory();
  EXPECT_GT(before.total_bytes, 0u);
  const Tensor tensor = Tensor::allocate(device_, 1 << 20, MemoryUse::kInput);
  EXPECT_GE(device_.get_property(property::allocated_memory), before.allocated_bytes + (1u << 20));
}

TEST_F(DeviceProperties, ListEveryNameWithItsAccess) {
  const std::string list = device_.get_property("SUPPORTED_PROPERTIES");
  EXPECT_TRUE(has(list, "NPU_TURBO:RW"));
  EXPECT_TRUE(has(list, "FULL_DEVICE_NAME:RO"));
  EXPECT_FALSE(has(list, "NETWORK_NAME")) << "it is one of models";
}

TEST_F(DeviceProperties, ThatAreUnknownNameTheNearOnes) {
  expect_error(ErrorCode::kInvalidArgument, "did you mean NPU_TURBO",
               [&] { device_.get_property("NPU_TURBOO"); });
  expect_error(ErrorCode::kUnsupported, "belongs to compiled models",
               [&] { device_.get_property("NETWORK_NAME"); });
  expect_error(ErrorCode::kInvalidArgument, "can only be read",
               [&] { device_.set_property("RANGE_FOR_STREAMS", "1,2"); });
}

TEST_F(DeviceProperties, TakeStreamsAsOpenVinoDoes) {
  EXPECT_EQ(device_.get_property("RANGE_FOR_STREAMS"), "0,8");
  EXPECT_EQ(device_.get_property("NUM_STREAMS"), "AUTO");
  for (const char* number : {"AUTO", "0", "8"}) {
    CompileOptions options;
    options.properties.set("NUM_STREAMS", number);
    EXPECT_EQ(compile(options).get_property("NUM_STREAMS"), number);
  }
  expect_error(ErrorCode::kInvalidArgument, "a number from 0 to 8",
               [&] { device_.set_property("NUM_STREAMS", "9"); });
}

TEST_F(DeviceProperties, TellWhetherABlobWouldRun) {
  const auto check = [&](const std::string& words) {
    return device_.get_property("COMPATIBILITY_CHECK", words);
  };
  EXPECT_EQ(check(compile().get_property("RUNTIME_REQUIREMENTS")), "SUPPORTED");
  const std::string platform = device_.info().platform;
  const std::string own = "desc=[npu=" + platform + ";t=";
  for (const auto& [words, answer] :
       {std::pair<std::string, const char*>{"meta=2.6;ov=2026.2.0;" + own + "1]", "SUPPORTED"},
        {own + "99]", "UNSUPPORTED"},
        {"desc=[npu=9999]", "UNSUPPORTED"},
        {"npu=" + platform + ";mi=9999.0.0", "UNSUPPORTED"},
        {"meta=2.6;ov=2026.2.0;desc=[]", "NOT_APPLICABLE"},
        {"", "NOT_APPLICABLE"}}) {
    EXPECT_EQ(check(words), answer) << words;
  }
  EXPECT_EQ(device_.get_property("COMPATIBILITY_CHECK"), "NOT_APPLICABLE") << "of nothing";
  expect_error(ErrorCode::kInvalidArgument, "cannot be read at", [&] { check("elf=new"); });
  expect_error(ErrorCode::kInvalidArgument, "takes no argument",
               [&] { device_.get_property("DEVICE_UUID", "x"); });
}

struct RequestsRow {
  const char* name;
  const char* properties;
  std::int64_t requests;
};

TEST_F(DeviceProperties, TellHowManyRequestsAreBest) {
  const std::int64_t many = device_.info().platform == "3720" ? 4 : 8;
  for (const auto& row :
       {RequestsRow{"default", "", 1}, RequestsRow{"latency", "PERFORMANCE_HINT=LATENCY", 1},
        RequestsRow{"throughput", "PERFORMANCE_HINT=THROUGHPUT", many},
        RequestsRow{"planned", "PERFORMANCE_HINT=THROUGHPUT PERFORMANCE_HINT_NUM_REQUESTS=3", 3},
        RequestsRow{"no_limit", "PERFORMANCE_HINT=THROUGHPUT PERFORMANCE_HINT_NUM_REQUESTS=0",
                    many}}) {
    CompileOptions options;
    options.properties = Properties::parse(row.properties);
    EXPECT_EQ(compile(options).get_property(property::optimal_number_of_requests), row.requests)
        << row.name;
  }
}

TEST_F(DeviceProperties, RefuseAnotherDevicesId) {
  const std::string other = device_.info().platform == "4000" ? "3720" : "4000";
  expect_error(ErrorCode::kInvalidArgument, "DEVICE_ID is " + other,
               [&] { device_.set_property("DEVICE_ID", other); });
  CompileOptions options;
  options.properties.set(property::device_id, other);
  expect_error(ErrorCode::kInvalidArgument, "DEVICE_ID is " + other, [&] { compile(options); });
}

TEST_F(DeviceProperties, AreDefaultsOfWhatIsCompiledThere) {
  device_.set_property(property::priority, Priority::kLow);
  EXPECT_EQ(device_.get_property(property::priority), Priority::kLow);
  EXPECT_EQ(compile().get_property(property::priority), Priority::kLow);
  CompileOptions options;
  options.properties.set(property::priority, Priority::kHigh);
  EXPECT_EQ(compile(options).get_property(property::priority), Priority::kHigh);
  device_.set_property(property::priority, Priority::kMedium);
}

TEST_F(DeviceProperties, OfAModelTellAboutIt) {
  const CompiledModel model = compile();
  EXPECT_EQ(model.get_property("NETWORK_NAME"), "affine");
  EXPECT_EQ(model.get_property("EXECUTION_DEVICES"), "software");
  EXPECT_FALSE(model.get_property(property::loaded_from_cache));
  EXPECT_TRUE(has(model.get_property("SUPPORTED_PROPERTIES"), "WORKLOAD_TYPE:RW"));
  EXPECT_TRUE(has(model.get_property("SUPPORTED_PROPERTIES"), "NPU_TURBO:RO"));
  expect_error(ErrorCode::kUnsupported, "belongs to devices",
               [&] { model.get_property("FULL_DEVICE_NAME"); });
}

TEST_F(DeviceProperties, OfAModelThatCanChangeDoSo) {
  CompiledModel model = compile();
  model.set_property(property::workload_type, WorkloadType::kEfficient);
  EXPECT_EQ(model.get_property("WORKLOAD_TYPE"), "EFFICIENT");
  Request request = model.create_request();
  request.infer();
  expect_error(ErrorCode::kInvalidArgument, "can no longer be changed",
               [&] { model.set_property("NPU_TURBO", "YES"); });
}

TEST_F(DeviceProperties, LogLevelIsTheProcesss) {
  const std::string before = device_.get_property(property::log_level);
  device_.set_property("LOG_LEVEL", "LOG_ERROR");
  EXPECT_EQ(compile().get_property("LOG_LEVEL"), "LOG_ERROR");
  device_.set_property("LOG_LEVEL", before);
}

struct TilesRow {
  const char* name;
  const char* properties;
};

TEST_F(DeviceProperties, RefuseMoreTilesThanThereAre) {
  for (const auto& row :
       {TilesRow{"of_the_device", "NPU_TILES=99"}, TilesRow{"told", "NPU_TILES=2 NPU_MAX_TILES=1"},
        TilesRow{"of_another_platform", "NPU_TILES=2 NPU_PLATFORM=5020"}}) {
    CompileOptions options;
    options.properties = Properties::parse(row.properties);
    SCOPED_TRACE(row.name);
    expect_error(ErrorCode::kInvalidArgument, "NPU_TILES is", [&] { compile(options); });
  }
}

}  // namespace
}  // namespace npu::test
