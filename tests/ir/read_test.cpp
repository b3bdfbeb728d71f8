#include <gtest/gtest.h>

#include <functional>

#include <npucore/error.hpp>
#include <npucore/model.hpp>

#include "ir_files.hpp"

namespace npu::read_test {
namespace {

using test::TempDir;

const std::string kTwo("\x00\x00\x00\x40", 4);

/// The message of the Error that `call` throws, with its code in front.
std::string error_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return std::string(to_string(error.code())) + ": " + error.what();
  }
  return "no error";
}

TEST(ReadTest, FindsInputsAndOutputs) {
  const TempDir dir;
  dir.write("model.bin", kTwo);
  const auto model = Model::read(dir.write("model.xml", test::multiply_ir()));
  ASSERT_EQ(model.inputs().size(), 1U);
  EXPECT_EQ(model.inputs()[0].name, "numbers");
  EXPECT_EQ(model.inputs()[0].shape, (Shape{1, 2}));
  EXPECT_EQ(model.inputs()[0].type, ElementType::kF32);
  ASSERT_EQ(model.outputs().size(), 1U);
  EXPECT_EQ(model.outputs()[0].name, "double");
  EXPECT_EQ(model.outputs()[0].tensor_names, std::vector<std::string>{"twice"});
  EXPECT_EQ(model.name(), "tested");
}

TEST(ReadTest, TakesTheWeightsFromElsewhere) {
  const TempDir dir;
  const auto weights = dir.write("elsewhere.weights", kTwo);
  EXPECT_NO_THROW(Model::read(dir.write("model.xml", test::multiply_ir()), weights));
}

TEST(ReadTest, NeedsNoWeightsWithoutConstants) {
  const TempDir dir;
  EXPECT_NO_THROW(Model::read(dir.write("model.xml", test::identity_ir("f32", {1, 3, 4, 4}))));
}

TEST(ReadTest, ReadsVersion10) {
  const TempDir dir;
  const auto text = test::identity_ir("f32", {1, 2}, "", "10");
  EXPECT_EQ(Model::read(dir.write("model.xml", text)).inputs()[0].name, "picture");
}

TEST(ReadTest, SplitsTensorNamesAtCommasThatAreNotEscaped) {
  const TempDir dir;
  auto text = test::identity_ir("f32", {1, 3, 4, 4});
  text.replace(text.find("names=\"image\""), 13, "names=\"a\\,b,image\"");
  const auto model = Model::read(dir.write("model.xml", text));
  EXPECT_EQ(model.inputs()[0].tensor_names, (std::vector<std::string>{"a,b", "image"}));
}

TEST(ReadTest, NamesAnOutputAfterTheIndexOfItsProducer) {
  const TempDir dir;
  const auto split =
      "<layer id=\"1\" name=\"parts\" type=\"VariadicSplit\" version=\"opset1\">"
      "<input><port id=\"0\" /></input><output><port id=\"1\" precision=\"FP32\" />"
      "<port id=\"2\" precision=\"FP16\"><dim>5</dim></port></output></layer>";
  const auto text = test::net(
      test::parameter_layer(0, "x", "f32", {2}) + split + test::result_layer(2, "out", {5}),
      test::edge(0, 0, 1, 0) + test::edge(1, 2, 2, 0));
  const auto model = Model::read(dir.write("model.xml", text));
  EXPECT_EQ(model.outputs()[0].name, "parts.1");
  EXPECT_EQ(model.outputs()[0].type, ElementType::kF16);
  EXPECT_EQ(model.outputs()[0].shape, (Shape{5}));
}

TEST(ReadTest, FindsModelInfo) {
  const TempDir dir;
  const auto text =
      test::identity_ir("f32", {2}, "", "11",
                        "<model_info><labels value=\"cat dog\" /><deep><er value=\"1\" /></deep>"
                        "</model_info><other value=\"no\" />");
  const auto info = Model::read(dir.write("model.xml", text)).model_info();
  EXPECT_EQ(info, (std::map<std::string, std::string>{{"labels", "cat dog"}, {"deep/er", "1"}}));
}

TEST(ReadTest, ModelInfoCanBeAddedTo) {
  auto model = test::read_ir(test::identity_ir("f32", {1, 3, 4, 4}));
  const Model before = model;
  model.set_model_info("mean_values", "1 2 3");
  model.set_model_info("npu_card", "first");
  model.set_model_info("npu_card", "{\"task\":\"pose\"}");
  EXPECT_EQ(model.model_info(),
            (std::map<std::string, std::string>{{"mean_values", "1 2 3"},
                                                {"npu_card", "{\"task\":\"pose\"}"}}));
  EXPECT_TRUE(before.model_info().empty());
  const auto preprocess = model.default_preprocess(FrameLayout::tight(PixelFormat::kRGB, 8, 8));
  EXPECT_EQ(preprocess.mean, (std::vector<float>{1, 2, 3}));
}

TEST(ReadTest, ModelInfoIsText) {
  auto model = test::read_ir(test::identity_ir("f32", {1, 3, 4, 4}));
  for (const auto& [key, value] : {std::pair<std::string, std::string>{"", "a"},
                                   {std::string("a\0b", 3), "a"},
                                   {"a", std::string("a\0b", 3)}}) {
    EXPECT_TRUE(has(error_of([&] { model.set_model_info(key, value); }), "no zero byte"));
  }
  EXPECT_TRUE(model.model_info().empty());
}

TEST(ReadTest, CopiesAreIndependent) {
  const auto model = test::read_ir(test::identity_ir("f32", {1, 3, 4, 4}));
  Model copy = model;
  copy.add_preprocess(copy.default_preprocess(FrameLayout::tight(PixelFormat::kRGB, 8, 8)));
  EXPECT_TRUE(copy.frame_input());
  EXPECT_FALSE(model.frame_input());
  EXPECT_EQ(model.inputs()[0].type, ElementType::kF32);
  EXPECT_EQ(copy.inputs()[0].type, ElementType::kU8);
}

TEST(ReadTest, NamesAMissingModel) {
  const auto error = error_of([] { Model::read("/nowhere/model.xml"); });
  EXPECT_TRUE(has(error, "/nowhere/model.xml"));
  EXPECT_EQ(error.find(to_string(ErrorCode::kNotFound)), 0U) << error;
}

TEST(ReadTest, NamesMissingWeights) {
  const TempDir dir;
  const auto path = dir.write("model.xml", test::multiply_ir());
  const auto error = error_of([&] { Model::read(path); });
  EXPECT_TRUE(has(error, (dir.path() / "model.bin").string()));
  EXPECT_EQ(error.find(to_string(ErrorCode::kNotFound)), 0U) << error;
}

TEST(ReadTest, RefusesConstantsBeyondTheWeights) {
  const TempDir dir;
  dir.write("model.bin", kTwo.substr(0, 3));
  const auto path = dir.write("model.xml", test::multiply_ir());
  const auto error = error_of([&] { Model::read(path); });
  EXPECT_TRUE(has(error, "have 3 bytes, but layer 'two' (Const, id 1)"));
}

TEST(ReadTest, RefusesOffsetsThatOverflow) {
  const TempDir dir;
  dir.write("model.bin", kTwo);
  auto text = test::multiply_ir();
  text.replace(text.find("offset=\"0\""), 10, "offset=\"18446744073709551614\"");
  const auto error = error_of([&] { Model::read(dir.write("model.xml", text)); });
  EXPECT_TRUE(has(error, "'two'"));
}

/// Whatever is read is also taken through everything that can be done with it.
void use(const std::filesystem::path& path) {
  try {
    auto model = Model::read(path);
    model.warnings();
    model.add_preprocess(model.default_preprocess(FrameLayout::tight(PixelFormat::kNV12, 8, 8)));
    model.check_supported();
  } catch (const Error&) {
  }
}

const std::string kRealistic = test::net(
    test::parameter_layer(0, "picture", "f32", {1, 3, 4, 4}, "[N,C,H,W]") +
        "<layer id=\"1\" name=\"limit\" type=\"Clamp\" version=\"opset1\"><data min=\"0\" "
        "max=\"1\" /><input><port id=\"0\"><dim>1</dim></port></input><output><port id=\"1\" "
        "precision=\"FP32\" names=\"a\\,b\"><dim>1</dim></port></output></layer>" +
        test::result_layer(2, "out", {1}),
    test::edge(0, 0, 1, 0) + test::edge(1, 1, 2, 0),
    "<model_info><mean_values value=\"1 2 3\" /></model_info>");

TEST(DamageTest, EveryTruncationIsAnErrorOrUsable) {
  const TempDir dir;
  for (std::size_t size = 0; size < kRealistic.size(); ++size) {
    SCOPED_TRACE(size);
    EXPECT_NO_THROW(use(dir.write("model.xml", kRealistic.substr(0, size))));
  }
}

TEST(DamageTest, EveryChangedByteIsAnErrorOrUsable) {
  const TempDir dir;
  for (std::size_t at = 0; at < kRealistic.size(); ++at) {
    for (const char replacement : {'\0', '9', '"'}) {
      auto text = kRealistic;
      text[at] = replacement;
      SCOPED_TRACE(std::to_string(at) + " " + replacement);
      EXPECT_NO_THROW(use(dir.write("model.xml", text)));
    }
  }
}

struct Malformed : Named {
  std::string text;
  const char* expected;
};

using test::replaced;

std::string good() {
  return test::identity_ir("f32", {1, 3, 4, 4});
}

class MalformedTest : public testing::TestWithParam<Malformed> {};

TEST_P(MalformedTest, GivesOneClearError) {
  const TempDir dir;
  const auto path = dir.write("model.xml", GetParam().text);
  const auto error = error_of([&] { Model::read(path); });
  EXPECT_TRUE(has(error, GetParam().expected));
  EXPECT_TRUE(has(error, path.string()));
  EXPECT_EQ(error.find(to_string(ErrorCode::kInvalidArgument)), 0U) << error;
}

const auto kRelu = [](int id, int input_port) {
  return "<layer id=\"" + std::to_string(id) + "\" name=\"r" + std::to_string(id) +
         "\" type=\"ReLU\" version=\"opset1\"><input><port id=\"" + std::to_string(input_port) +
         "\" /></input><output><port id=\"1\" precision=\"FP32\" /></output></layer>";
};

/// A layer without ports on one side, in front of the result.
std::string portless(const std::string& type, const std::string& ports) {
  return test::net(test::parameter_layer(0, "x", "f32", {1}) +
                       "<layer id=\"1\" name=\"odd\" type=\"" + type + "\" version=\"opset1\">" +
                       ports + "</layer>" + test::result_layer(2, "out", {1}),
                   test::edge(1, 0, 2, 0));
}

/// An IR whose parameter carries elements inside each other.
std::string nested(int depth) {
  std::string open, close;
  for (int i = 0; i < depth; ++i) {
    open += "<a>";
    close += "</a>";
  }
  return replaced(good(), "<output>", open + close + "<output>");
}

// ---- What people take for an IR

struct OtherKind : Named {
  const char* file;
  std::string begin;
  const char* said;
};
class OtherKindTest : public testing::TestWithParam<OtherKind> {};

TEST_P(OtherKindTest, IsToldWithHowToMakeAnIrOfIt) {
  const TempDir dir;
  dir.write("net.xml", good());
  const auto path = dir.write(GetParam().file, GetParam().begin + std::string(600, 'x'));
  EXPECT_TRUE(has(error_of([&] { Model::read(path); }), GetParam().said));
}

INSTANTIATE_TEST_SUITE_P(
    Table, OtherKindTest,
    testing::Values(
        OtherKind{"onnx", "net.onnx", std::string("\x08\x08\x12\x07pytorch", 11),
                  "is an ONNX model: make an OpenVINO IR of it (pip install openvino; ovc "},
        OtherKind{"onnx_under_another_name", "net.model", std::string("\x08\x0a\x3a\x10", 4),
                  "is an ONNX model"},
        OtherKind{"pytorch", "best.pt", std::string("PK\x03\x04") + "best/data.pkl",
                  "is a PyTorch file: make an OpenVINO IR of it, with Ultralytics by yolo export"},
        OtherKind{"tensorflow_lite", "net.tflite", std::string("\x1c\0\0\0TFL3", 8),
                  "is a TensorFlow Lite model"},
        OtherKind{"tensorflow", "saved_model.pb", "\x12", "is a TensorFlow model"},
        OtherKind{"keras", "net.keras", "PK\x03\x04", "is a Keras model"},
        OtherKind{"git_lfs", "net.xml", "version https://git-lfs.github.com/spec/v1\n",
                  "is a pointer that Git LFS left in place of the file: fetch it by git lfs pull"},
        OtherKind{"weights", "net.bin", "\x01", "is the weights of a model: give "}),
    by_name);

/// Larger than a model's text may be.
TEST(ReadTest, TellsAnOnnxModelWithItsWeightsInside) {
  const TempDir dir;
  const auto path = dir.write("net.onnx", "\x08\x0a\x3a\x10");
  std::filesystem::resize_file(path, std::uintmax_t{200} << 20);
  const auto error = error_of([&] { Model::read(path); });
  EXPECT_TRUE(has(error, "'" + path.string() + "' is an ONNX model: make an OpenVINO IR of it"));
  EXPECT_TRUE(has(error, "ovc '" + path.string() + "'"));
}

TEST(ReadTest, TakesAFolderWithOneIr) {
  const TempDir dir;
  const auto xml = dir.write("net.xml", good());
  dir.write("metadata.yaml", "task: detect");
  EXPECT_EQ(Model::read(xml.parent_path()).path(), xml);
}

TEST(ReadTest, TellsAUrisPath) {
  EXPECT_TRUE(has(error_of([] { Model::read("file:///models/net.xml"); }),
                  "is a URI: give the path, '/models/net.xml'"));
}

TEST(ReadTest, RefusesAFolderWithNoIrOrSeveral) {
  const TempDir dir;
  const auto folder = dir.write("net.onnx", "x").parent_path();
  EXPECT_TRUE(has(error_of([&] { Model::read(folder); }), "is a folder without an .xml"));
  dir.write("b.xml", good());
  const auto first = dir.write("a.xml", good());
  const auto error = error_of([&] { Model::read(folder); });
  EXPECT_TRUE(has(error, "is a folder with 2 .xml files"));
  EXPECT_TRUE(has(error, "such as '" + first.string() + "'"));
}

TEST(ReadTest, TakesElementsThatAreNestedAsInLoopsOfLoops) {
  const TempDir dir;
  EXPECT_NO_THROW(Model::read(dir.write("model.xml", nested(200))));
}

INSTANTIATE_TEST_SUITE_P(
    Table, MalformedTest,
    testing::Values(
        Malformed{"empty", "", "it is empty; copy or export it again"},
        Malformed{"blank", " \n", "it is empty; copy or export it again"},
        Malformed{"binary", std::string("\x7f\0\0\0\0", 5), "it is no XML; give the .xml"},
        Malformed{"blob",
                  std::string("\x7f"
                              "ELF\0\0\0",
                              7),
                  "is a compiled blob, not an OpenVINO IR: import it (npuimport, "},
        Malformed{"cut_off", good().substr(0, good().size() / 2), "XML error in line"},
        Malformed{"wrong_tag", replaced(good(), "</layers>", "</layer>"), "XML error in line 6"},
        Malformed{"another_xml", "<mesh />", "its root element is <mesh>, not <net>"},
        Malformed{"version_7", replaced(good(), "version=\"11\"", "version=\"7\""),
                  "its version is '7'"},
        Malformed{"no_version", replaced(good(), " version=\"11\"", ""), "its version is ''"},
        Malformed{"no_layers", "<net version=\"11\"><edges /></net>", "it has no <layers>"},
        Malformed{"empty_layers", "<net version=\"11\"><layers /></net>", "it has no layers"},
        Malformed{"no_result", test::net(test::parameter_layer(0, "x", "f32", {1}), ""),
                  "it has no output"},
        Malformed{"no_id", replaced(good(), "layer id=\"0\"", "layer"),
                  "layer 'picture' has no usable id ('')"},
        Malformed{"id_is_text", replaced(good(), "layer id=\"0\"", "layer id=\"first\""),
                  "no usable id ('first')"},
        Malformed{"negative_id", replaced(good(), "layer id=\"0\"", "layer id=\"-1\""),
                  "no usable id ('-1')"},
        Malformed{"no_type", replaced(good(), " type=\"Result\"", ""), "layer 1 has no type"},
        Malformed{
            "same_id", replaced(good(), "layer id=\"1\"", "layer id=\"0\""),
            "the layer id 0 is used twice: layer 'picture' (Parameter, id 0) and layer 'out'"},
        Malformed{"port_without_id", replaced(good(), "port id=\"0\"", "port"),
                  "a port of layer 'picture' (Parameter, id 0) has no usable id"},
        Malformed{"same_port",
                  test::net(test::parameter_layer(0, "x", "f32", {1}) + kRelu(1, 1) +
                                test::result_layer(2, "out", {1}),
                            test::edge(0, 0, 1, 1) + test::edge(1, 1, 2, 0)),
                  "layer 'r1' (ReLU, id 1) has port 1 twice"},
        Malformed{"edge_without_number", replaced(good(), "to-port=\"0\"", ""),
                  "a number is missing"},
        Malformed{"edge_from_nowhere", replaced(good(), "from-layer=\"0\"", "from-layer=\"9\""),
                  "edge from layer 9 port 0 to layer 1 port 0: there is no layer 9"},
        Malformed{"edge_from_no_port", replaced(good(), "from-port=\"0\"", "from-port=\"4\""),
                  "layer 'picture' (Parameter, id 0) has no output port 4"},
        Malformed{"edge_to_no_port", replaced(good(), "to-port=\"0\"", "to-port=\"4\""),
                  "layer 'out' (Result, id 1) has no input port 4"},
        Malformed{"two_edges", replaced(good(), "<edges>", "<edges>" + test::edge(0, 0, 1, 0)),
                  "that input has another edge already"},
        Malformed{"no_edge", replaced(good(), test::edge(0, 0, 1, 0), ""),
                  "input port 0 of layer 'out' (Result, id 1) has no edge"},
        Malformed{
            "cycle",
            test::net(kRelu(0, 0) + kRelu(1, 0) + test::result_layer(2, "out", {1}),
                      test::edge(0, 1, 1, 0) + test::edge(1, 1, 0, 0) + test::edge(1, 1, 2, 0)),
            "its layers form a cycle"},
        Malformed{"identity_without_input",
                  portless("Identity", "<output><port id=\"0\" /></output>"),
                  "layer 'odd' (Identity, id 1) must have one input port, not 0"},
        Malformed{"broadcast_without_input",
                  portless("Broadcast", "<output><port id=\"0\" /></output>"),
                  "layer 'odd' (Broadcast, id 1) must have 2 to 3 input ports, not 0"},
        Malformed{"state_of_two_outputs",
                  portless("ReadValue", "<output><port id=\"0\" /><port id=\"1\" /></output>"),
                  "layer 'odd' (ReadValue, id 1) must have one output port, not 2"},
        Malformed{"too_deep", nested(200'000), "its elements are nested more than 256 deep"},
        Malformed{"constant_without_offset", replaced(test::multiply_ir(), " offset=\"0\"", ""),
                  "layer 'two' (Const, id 1) has no usable offset and size"},
        Malformed{"constant_too_small", replaced(test::multiply_ir(), "shape=\"\"", "shape=\"2\""),
                  "layer 'two' (Const, id 1) of shape [2] has only 4 bytes of data"},
        Malformed{"constant_too_large",
                  replaced(test::multiply_ir(), "shape=\"\"",
                           "shape=\"4294967296,4294967296,4294967296,4294967296\""),
                  "has only 4 bytes of data"},
        Malformed{"constant_of_two_to_the_128_bits",
                  replaced(test::multiply_ir(), "shape=\"\"",
                           "shape=\"2305843009213693952,4611686018427387904\""),
                  "has only 4 bytes of data"},
        Malformed{"result_of_two", replaced(good(), "<input>", "<input><port id=\"7\" />"),
                  "input port 7 of layer 'out' (Result, id 1) has no edge"}),
    by_name);

}  // namespace
}  // namespace npu::read_test
