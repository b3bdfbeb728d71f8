// Dimensions that vary within bounds, and the batch, as Intel's compiler takes them (8.4, asked on
// 3720, 4000 and 5010).
#include "driver_fixture.hpp"

namespace softnpu_test {
namespace {

using Values = std::vector<float>;

// y = x + (1, 2, 3, 4) in every row.
std::string rows_ir(const std::string& shape) {
  return replaced(sample_ir().xml(), "shape=\"1,4\"", "shape=\"" + shape + "\"");
}

std::string batch_mode(const std::string& mode) {
  return "--config NPU_BATCH_MODE=\"" + mode + "\"";
}

class Dynamic : public Driver {
 protected:
  ze_result_t open(const std::string& xml, const std::string& flags = {}) {
    return client_.compile_ir(classic_buffer(kCompiler, xml, sample_ir().weights()), graph_,
                              flags.c_str());
  }
  uint32_t argument_count() const {
    ze_graph_properties_t properties{ZE_STRUCTURE_TYPE_GRAPH_PROPERTIES};
    client_.graph->pfnGetProperties(graph_.get(), &properties);
    return properties.numGraphArgs;
  }
  ze_graph_argument_properties_3_t properties(uint32_t index) const {
    ze_graph_argument_properties_3_t result{ZE_STRUCTURE_TYPE_GRAPH_ARGUMENT_PROPERTIES_3};
    EXPECT_EQ(client_.graph->pfnGetArgumentProperties3(graph_.get(), index, &result),
              ZE_RESULT_SUCCESS);
    return result;
  }
  ze_graph_argument_metadata_t metadata(uint32_t index) const {
    ze_graph_argument_metadata_t result{ZE_STRUCTURE_TYPE_GRAPH_ARGUMENT_METADATA};
    EXPECT_EQ(client_.graph->pfnGraphGetArgumentMetadata(graph_.get(), index, &result),
              ZE_RESULT_SUCCESS);
    return result;
  }
  // Runs on that many rows of x = 10, 20, ...; what the memory of four rows holds then, and the
  // sizes that are told.
  struct Results {
    ze_result_t result;
    Values y;
    int32_t sizes[2];
  };
  Results run(int32_t rows) {
    const Memory zeros = client_.floats(64);
    float* const memory = zeros.as<float>();
    auto* const sizes = reinterpret_cast<int32_t*>(memory + 32);
    for (int i = 0; i < 12; ++i) memory[i] = 10.0f * static_cast<float>(i + 1);
    std::fill(memory + 16, memory + 28, -1.0f);
    sizes[0] = 4;  // the innermost first
    sizes[1] = rows;
    client_.set_arguments(graph_, {memory, sizes, memory + 16, sizes + 2});
    const ze_result_t result = client_.append(client_.make_immediate_list(), graph_);
    return {result, {memory + 16, memory + 28}, {sizes[2], sizes[3]}};
  }
  Graph graph_;
};

TEST_F(Dynamic, ArgumentsHaveTheirBoundAndAShapeArgumentEach) {
  ASSERT_EQ(open(rows_ir("1..3,4")), ZE_RESULT_SUCCESS) << client_.log;
  ASSERT_EQ(argument_count(), 4u);
  const char* const names[] = {"x", "vpux_ie_shape_x", "y", "vpux_ie_shape_y"};
  for (uint32_t i = 0; i < 4; ++i) EXPECT_STREQ(properties(i).name, names[i]);
  for (const uint32_t tensor : {0u, 2u}) {
    EXPECT_EQ(properties(tensor).dims[0], 3u);
    EXPECT_EQ(properties(tensor).dims[1], 4u);
    EXPECT_EQ(metadata(tensor).shape[0], UINT64_MAX);
    EXPECT_EQ(metadata(tensor).shape[1], 4u);
  }
  for (const uint32_t shape : {1u, 3u}) {
    EXPECT_EQ(properties(shape).dims_count, 1u);
    EXPECT_EQ(properties(shape).dims[0], 2u);
    EXPECT_EQ(properties(shape).devicePrecision, ZE_GRAPH_ARGUMENT_PRECISION_INT32);
    EXPECT_EQ(metadata(shape).shape[0], 2u);
  }
}

// x in the shape that a constant gives, which is kept in f16: a reader of IRs leaves it uncomputed.
IrWriter reshaped_ir() {
  IrWriter ir("reshaped");
  const auto x = ir.parameter("x", "f32", {1, 4});
  const auto four = ir.constant("four", "f16", {1}, std::string_view("\x00\x44", 2));
  const auto real =
      ir.layer("Convert", {four},
               {.name = "float",
                .data = "destination_type=\"f32\"",
                .type = "f32",
                .inside = "<rt_info><attribute name=\"decompression\" version=\"0\"/></rt_info>"});
  const auto whole = ir.layer("Convert", {real},
                              {.name = "int", .data = "destination_type=\"i64\"", .type = "i64"});
  ir.result(
      ir.layer("Reshape", {x, whole},
               {.name = "sum", .data = "special_zero=\"false\"", .shape = IrWriter::Shape{-1}}),
      "y");
  return ir;
}

TEST_F(Dynamic, SizesAreComputedFromConstants) {
  ASSERT_EQ(client_.compile_ir(buffer_of(reshaped_ir()), graph_), ZE_RESULT_SUCCESS) << client_.log;
  ASSERT_EQ(argument_count(), 2u);
  EXPECT_EQ(properties(1).dims_count, 1u);
  EXPECT_EQ(properties(1).dims[0], 4u);
}

TEST_F(Dynamic, SizesAreToldForEachRun) {
  ASSERT_EQ(open(rows_ir("1..3,4")), ZE_RESULT_SUCCESS) << client_.log;
  for (const int32_t rows : {2, 3, 1}) {
    const Results results = run(rows);
    ASSERT_EQ(results.result, ZE_RESULT_SUCCESS);
    EXPECT_EQ(results.sizes[0], 4);
    EXPECT_EQ(results.sizes[1], rows);
    Values expected(12, 0.0f);
    for (int i = 0; i < 4 * rows; ++i) {
      expected[static_cast<size_t>(i)] =
          10.0f * static_cast<float>(i + 1) + static_cast<float>(i % 4 + 1);
    }
    EXPECT_EQ(results.y, expected) << rows << " rows";
  }
}

// The beginning of x [3,4] along these axes, as long as each run says.
std::string part_buffer(const std::vector<int64_t>& axes) {
  IrWriter ir;
  const int count = static_cast<int>(axes.size());
  const auto numbers = [&](const std::string& name, const std::vector<int64_t>& values) {
    const auto* bytes = reinterpret_cast<const char*>(values.data());
    return ir.constant(name, "i64", {count}, {bytes, values.size() * sizeof values[0]});
  };
  const auto x = ir.parameter("x", "f32", {3, 4});
  const auto stops = ir.parameter("stops", "i64", {count});
  const auto starts = numbers("starts", std::vector<int64_t>(axes.size(), 0));
  const auto steps = numbers("steps", std::vector<int64_t>(axes.size(), 1));
  ir.result(ir.layer("Slice", {x, starts, stops, steps, numbers("axes", axes)},
                     {.shape = IrWriter::Shape{-1, -1}, .opset = "opset8"}),
            "y");
  return buffer_of(ir);
}

// Only the run knows how many: they are at the beginning, and zeros behind them.
TEST_F(Dynamic, RowsMayVaryAlone) {
  ASSERT_EQ(client_.compile_ir(part_buffer({0}), graph_), ZE_RESULT_SUCCESS) << client_.log;
  const Memory memory = client_.floats(32);
  float* const x = memory.as<float>();
  auto* const stops = reinterpret_cast<int64_t*>(x + 12);
  float* const y = x + 16;
  for (int i = 0; i < 12; ++i) x[i] = static_cast<float>(i + 1);
  client_.set_arguments(graph_, {x, stops, y});
  for (const int64_t rows : {3, 1, 2}) {
    *stops = rows;
    ASSERT_EQ(client_.append(client_.make_immediate_list(), graph_), ZE_RESULT_SUCCESS);
    Values expected(12, 0.0f);
    std::copy(x, x + 4 * rows, expected.begin());
    EXPECT_EQ(Values(y, y + 12), expected) << rows << " rows";
  }
}

// A row that begins behind others of unknown size has no place of its own.
TEST_F(Dynamic, WhatLiesBehindVaryingRowsMayNotVary) {
  for (const std::vector<int64_t>& axes : {std::vector<int64_t>{1}, {0, 1}}) {
    EXPECT_EQ(client_.compile_ir(part_buffer(axes), graph_), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    EXPECT_TRUE(has(client_.log, "the NPU needs fixed dimensions"));
  }
}

TEST_F(Dynamic, SizesPastTheBoundFail) {
  ASSERT_EQ(open(rows_ir("1..3,4")), ZE_RESULT_SUCCESS) << client_.log;
  for (const int32_t rows : {4, 0, -1})
    EXPECT_EQ(run(rows).result, ZE_RESULT_ERROR_UNKNOWN) << rows;
  EXPECT_EQ(run(3).result, ZE_RESULT_SUCCESS);
}

TEST_F(Dynamic, SurvivesItsNativeBinary) {
  ASSERT_EQ(open(rows_ir("1..3,4")), ZE_RESULT_SUCCESS) << client_.log;
  graph_ = client_.load(std::string(client_.binary_in_place(graph_)));
  EXPECT_EQ(run(2).sizes[1], 2);
}

TEST_F(Dynamic, NeedsABound) {
  EXPECT_EQ(open(rows_ir("?,4")), ZE_RESULT_ERROR_INVALID_ARGUMENT);
  EXPECT_TRUE(has(client_.log, "upper bound is missing: \"x\""));
}

struct Batch {
  const char* name;
  const char* shape;
  const char* mode;
  uint32_t arguments;
  uint32_t rows;
};

class BatchMode : public Dynamic, public testing::WithParamInterface<Batch> {};

TEST_P(BatchMode, DecidesWhoDividesTheBatch) {
  const Batch& row = GetParam();
  ASSERT_EQ(open(rows_ir(row.shape), *row.mode != '\0' ? batch_mode(row.mode) : std::string()),
            ZE_RESULT_SUCCESS)
      << client_.log;
  ASSERT_EQ(argument_count(), row.arguments);
  EXPECT_EQ(properties(0).dims[0], row.rows);
  EXPECT_EQ(properties(row.arguments / 2).dims[0], row.rows);
  EXPECT_EQ(properties(0).dims[1], 4u);
}

INSTANTIATE_TEST_SUITE_P(Driver, BatchMode,
                         testing::Values(Batch{"bounded_unsaid", "1..3,4", "", 4, 3},
                                         Batch{"bounded_compiler", "1..3,4", "COMPILER", 4, 3},
                                         Batch{"bounded_plugin", "1..3,4", "PLUGIN", 2, 1},
                                         Batch{"bounded_auto", "1..3,4", "AUTO", 2, 1},
                                         Batch{"fixed_unsaid", "3,4", "", 2, 3},
                                         Batch{"fixed_compiler", "3,4", "COMPILER", 2, 3},
                                         Batch{"fixed_plugin", "3,4", "PLUGIN", 2, 1},
                                         Batch{"fixed_auto", "3,4", "AUTO", 2, 1},
                                         Batch{"one_plugin", "1,4", "PLUGIN", 2, 1}),
                         by_name);

// Two inputs are more than the mode divides.
TEST_F(Dynamic, BatchOfSeveralInputsIsTheCompilers) {
  IrWriter ir;
  const auto x = ir.parameter("x", "f32", {3, 4});
  ir.result(ir.binary("Add", x, ir.parameter("bias", "f32", {3, 4})), "y");
  const std::string xml = ir.xml();
  EXPECT_EQ(open(xml, batch_mode("PLUGIN")), ZE_RESULT_ERROR_INVALID_ARGUMENT);
  EXPECT_TRUE(has(client_.log, "NPU_BATCH_MODE"));
  ASSERT_EQ(open(xml, batch_mode("AUTO")), ZE_RESULT_SUCCESS) << client_.log;
  EXPECT_EQ(properties(0).dims[0], 3u);
}

}  // namespace
}  // namespace softnpu_test
