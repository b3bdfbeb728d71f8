// Whether Intel's compiler takes whole networks, and what it says of those that it refuses. A
// sample runs by itself; NPU_COMPILER_GRAPHS=all takes every one.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include <npucore/compiler.hpp>
#include <npucore/model.hpp>

#include "support/expect.hpp"

#include "intels_compiler.hpp"

namespace npu::test {
namespace {

/// One of make_networks.py's.
struct Network : Named {
  const char* refusal = nullptr;  ///< words of the compiler's; nothing: it takes the network
  bool is_open = false;           ///< npucore refuses it before: sizes are only known at run time
};

constexpr Network kNetworks[] = {
    {"several_inputs_and_outputs"},
    {"f16_weights"},
    {"two_states"},
    // The compiler gives a variable memory once, so its shape must be known.
    {"state_of_unknown_size", "to_shape was called on a dynamic shape"},
    // With an If it stops, and does not say why.
    {"condition", "Compilation failed"},
    {"pools"},
    {"int8_network"},
    {"constant_filter"},
    {"constant_filter_lower"},
    {"quantised_filter"},
    {"quantised_filter_lower"},
    {"filter_of_single_elements"},
    {"transposed_filter"},
    {"dequantised_filter"},
    {"dequantised_groups"},
    {"dequantised_transposed_convolution"},
};

std::filesystem::path made(const std::string& name) {
  return std::filesystem::path(std::getenv("NETWORKS_DIR")) / (name + ".xml");
}

using Row = std::tuple<const char*, Network>;

/// Each network for each platform, or in a sample for one, in turn.
std::vector<Row> rows(std::span<const Network> networks) {
  std::vector<Row> rows;
  for (std::size_t i = 0; i < networks.size(); ++i) {
    for (std::size_t j = 0; j < std::size(kPlatforms); ++j) {
      if (all_wanted() || i % std::size(kPlatforms) == j) {
        rows.emplace_back(kPlatforms[j], networks[i]);
      }
    }
  }
  return rows;
}

/// The file's name of a network in a folder.
std::string name_of(const ::testing::TestParamInfo<Row>& test) {
  const auto& [platform, network] = test.param;
  return std::string(platform) + '_' + std::filesystem::path(network.name).filename().string();
}

class Networks : public ::testing::TestWithParam<Row> {};

TEST_P(Networks, AreTakenOrRefusedInWords) {
  const auto& [platform, network] = GetParam();
  const std::string refusal = refusal_of(platform, Model::read(made(network.name)));
  if (network.refusal) {
    EXPECT_TRUE(has(refusal, network.refusal));
  } else {
    EXPECT_EQ(refusal, "");
  }
}

INSTANTIATE_TEST_SUITE_P(All, Networks, ::testing::ValuesIn(rows(kNetworks)), name_of);

class Models : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(All, Models, ::testing::ValuesIn(kPlatforms),
                         [](const auto& test) { return std::string(test.param); });

TEST_P(Models, TheDemoModelIsTaken) {
  EXPECT_EQ(refusal_of(GetParam(), Model::read(std::getenv("SHAPES_XML"))), "");
}

TEST_P(Models, ADetectorOfARealSizeIsTaken) {
  if (!all_wanted() && GetParam() != std::string("3720")) {
    GTEST_SKIP() << "not in a sample";
  }
  EXPECT_EQ(refusal_of(GetParam(), Model::read(std::getenv("DETECTOR_XML"))), "");
}

Model with_rows_at_run_time(const std::string& name) {
  Model model = Model::read(made(name));
  // With another size at the input, npucore leaves it to the compiler what is dynamic inside.
  model.reshape({{"image", {1, 3, 64, 32}}});
  return model;
}

/// Nobody can compute them before.
TEST_P(Models, PadsOfASizeKnownAtRunTimeAreRefused) {
  const auto refusal = refusal_of(GetParam(), with_rows_at_run_time("run_time_rows"));
  EXPECT_TRUE(has(refusal, "uses auto_pad=SAME_UPPER that cannot be converted to explicit pads"));
}

TEST_P(Models, OfStrideOneTheyAreNot) {
  EXPECT_FALSE(has(refusal_of(GetParam(), with_rows_at_run_time("run_time_rows_stride_1")),
                   "explicit pads"));
}

/// Repairs the model, which prepares it for an NPU's compiler, and returns the compiler's
/// objection.
std::string refusal_once_repaired(const std::string& platform, Model model) {
  EXPECT_EQ(model.repair().size(), 1U);
  return refusal_of(platform, model);
}

TEST_P(Models, RoundingOfWholeNumbersIsTakenOnceItIsRepaired) {
  for (const std::string name : {"rows_by_ceiling", "rows_by_round"}) {
    const Model model = Model::read(made(name));
    EXPECT_TRUE(has(refusal_of(GetParam(), model), "Failed to create a valid MLIR module"));
    EXPECT_EQ(refusal_once_repaired(GetParam(), model), "");
  }
}

double estimated_us(const std::string& platform, const Model& model) {
  const auto blob = compile_for({platform}, model);
  return blob.estimate ? blob.estimate->latency_us : 0;
}

TEST_P(Models, TheEndOfADetectorCostsLessOnceItIsRepaired) {
  Model model = Model::read(made("end_to_end"));
  const auto before = estimated_us(GetParam(), model);
  EXPECT_EQ(model.repair().size(), 2U);
  const auto after = estimated_us(GetParam(), model);
  EXPECT_GT(after, 0);
  EXPECT_LT(after, before);
}

/// Networks that are refused, or cost more, until they are repaired.
constexpr Network kRepaired[] = {
    {"matrix_nms", "sort_result_type is not supported", true},
    {"multiclass_nms", "sort_result_type is not supported", true},
    {"shapes_nms_operator_openvino_model/shapes_nms_operator", nullptr, true},
    {"shapes_nms_export_openvino_model/shapes_nms_export",
     "IE.Reshape doesn't support dynamic shapes", true},
    {"shapes_v10_openvino_model/shapes_v10"},
    {"target_sizes"},
};

void expect_words(const std::string& refusal, const char* words) {
  EXPECT_EQ(refusal.empty(), words == nullptr) << refusal;
  EXPECT_TRUE(has(refusal, words ? words : ""));
}

/// As a program compiles it: what is said against it, and what it costs where nothing is.
struct Verdict {
  std::string refusal;
  double estimate_us = 0;
};

Verdict verdict_on(const std::string& platform, const Model& model) {
  try {
    return {.estimate_us = estimated_us(platform, model)};
  } catch (const Error& error) {
    return {.refusal = std::string(error.what()) + '\n' + error.driver_log()};
  }
}

class Repairs : public ::testing::TestWithParam<Row> {};

TEST_P(Repairs, LetModelsBeTakenOrCostLess) {
  const auto& [platform, network] = GetParam();
  Model model = Model::read(made(network.name));
  if (network.is_open) {
    expect_words(refusal_of(platform, model), network.refusal);
  }
  const Verdict before = verdict_on(platform, model);
  EXPECT_FALSE(model.repair().empty());
  const Verdict after = verdict_on(platform, model);
  std::cout << "estimates: " << before.estimate_us << " us, repaired " << after.estimate_us
            << " us\n";
  expect_words(before.refusal, network.is_open ? "is only known at run time" : nullptr);
  expect_words(after.refusal, nullptr);
  EXPECT_GT(after.estimate_us, 0);
  EXPECT_TRUE(network.is_open || after.estimate_us < before.estimate_us);
}

INSTANTIATE_TEST_SUITE_P(All, Repairs, ::testing::ValuesIn(rows(kRepaired)), name_of);

/// Public networks, which fetch_networks.py makes, or IRs of one's own: NPU_COMPILER_NETWORKS is a
/// folder with them.
std::set<std::filesystem::path> networks_of_folder() {
  std::set<std::filesystem::path> found;
  const char* folder = std::getenv("NPU_COMPILER_NETWORKS");
  if (!folder) return found;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() == ".xml" && entry.path().stem().extension() != ".part") {
      found.insert(entry.path());
    }
  }
  return found;
}

TEST_P(Models, OfAFolderAreTaken) {
  const auto networks = networks_of_folder();
  if (networks.empty()) {
    GTEST_SKIP() << "set NPU_COMPILER_NETWORKS to a folder with IRs";
  }
  for (const auto& path : networks) {
    EXPECT_EQ(refusal_of(GetParam(), Model::read(path)), "") << path;
  }
}

TEST_P(Models, OfAFolderAreTakenWithFrames) {
  const auto networks = networks_of_folder();
  if (networks.empty()) {
    GTEST_SKIP() << "set NPU_COMPILER_NETWORKS to a folder with IRs";
  }
  for (const auto& path : networks) {
    Model model = Model::read(path);
    try {
      model.add_preprocess(
          model.default_preprocess(FrameLayout::tight(PixelFormat::kNV12, 1280, 720)));
    } catch (const Error&) {
      continue;  // not a network of pictures
    }
    EXPECT_EQ(refusal_of(GetParam(), model), "") << path;
  }
}

}  // namespace
}  // namespace npu::test
