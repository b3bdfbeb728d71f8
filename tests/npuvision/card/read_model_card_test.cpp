// Cards from the files beside a model.
#include <gtest/gtest.h>

#include <filesystem>

#include <npucore/error.hpp>
#include <npuvision/decoder.hpp>
#include <npuvision/model_card.hpp>

#include "support/expect.hpp"
#include "support/temp_dir.hpp"

namespace npu::vision {
namespace {

using Info = std::map<std::string, std::string>;

class ModelCardFiles : public testing::Test {
 protected:
  void write(const std::string& name, const std::string& text) { directory_.write(name, text); }
  std::filesystem::path model(const char* name = "m.xml") const { return directory_.path() / name; }
  ModelCard read(const Info& info = {}) const { return read_model_card(model(), info); }
  ModelCard of(const std::string& file, const std::string& text, const Info& info = {}) {
    write(file, text);
    return read(info);
  }
  std::string complaint(const Info& info = {}) const {
    try {
      read(info);
    } catch (const Error& error) {
      return error.what();
    }
    return "none";
  }

  test::TempDir directory_;
};

// As Ultralytics 8.4 writes it.
const char* const kDetect =
    R"(description: Ultralytics YOLO11n model trained on /usr/src/ultralytics/ultralytics/cfg/datasets/coco.yaml
author: Ultralytics
date: '2026-01-30T12:34:56.789012'
version: 8.4.9
license: AGPL-3.0 License (https://ultralytics.com/license)
docs: https://docs.ultralytics.com
stride: 32
task: detect
batch: 1
imgsz:
- 384
- 640
names:
  0: person
  1: traffic light
  2: 'no'
args:
  batch: 1
  half: false
  int8: false
  dynamic: false
  nms: false
channels: 3
end2end: false
)";

// As it writes into the .xml.
const Info kUltralyticsInfo = {{"iou_threshold", "0.7"},
                               {"labels", "person traffic_light no"},
                               {"model_type", "YOLO"},
                               {"pad_value", "114"},
                               {"resize_type", "fit_to_window_letterbox"},
                               {"reverse_input_channels", "True"},
                               {"scale_values", "255.0"}};

using UltralyticsCard = ModelCardFiles;

TEST_F(UltralyticsCard, OfADetectorIsAllThatBothFilesSay) {
  const ModelCard card = of("metadata.yaml", kDetect, kUltralyticsInfo);
  EXPECT_EQ(card.task, Task::kDetect);
  EXPECT_EQ(card.family, Family::kYolo);
  EXPECT_EQ(card.end_to_end, false);
  EXPECT_EQ(card.labels, (std::vector<std::string>{"person", "traffic light", "no"}));
  EXPECT_EQ(card.input_height, 384U);
  EXPECT_EQ(card.input_width, 640U);
  EXPECT_EQ(card.iou_threshold, 0.7F);
  EXPECT_FALSE(card.confidence_threshold);
  EXPECT_EQ(card.resize, npu::ResizeMode::kLetterbox);
  EXPECT_EQ(card.pad_value, 114.0F);
  EXPECT_EQ(card.channels, npu::ChannelOrder::kRGB);
  EXPECT_EQ(card.scale, std::vector<float>{255});
  EXPECT_TRUE(card.mean.empty());
  EXPECT_EQ(card.architecture.rfind("Ultralytics YOLO11n model", 0), 0U);
  EXPECT_EQ(card.origins.at("labels"), "metadata.yaml");
  EXPECT_EQ(card.origins.at("iou_threshold"), "model_info");
  EXPECT_EQ(card.origins.count("confidence_threshold"), 0U);
}

TEST_F(UltralyticsCard, WithoutMetadataHasNoTask) {
  const ModelCard card = read(kUltralyticsInfo);
  EXPECT_EQ(card.task, Task::kUnknown);
  EXPECT_EQ(card.family, Family::kAuto);
  EXPECT_EQ(card.labels, (std::vector<std::string>{"person", "traffic_light", "no"}));
}

struct Head : Named {
  const char* yaml;
  Task task;
  Family family;
  std::optional<bool> end_to_end;
};

class UltralyticsHead : public ModelCardFiles, public testing::WithParamInterface<Head> {};

TEST_P(UltralyticsHead, DecidesTheFamily) {
  const ModelCard card = of("metadata.yaml", GetParam().yaml, kUltralyticsInfo);
  EXPECT_EQ(card.task, GetParam().task);
  EXPECT_EQ(card.family, GetParam().family);
  EXPECT_EQ(card.end_to_end, GetParam().end_to_end);
  EXPECT_EQ(card.raw_scores,
            GetParam().task == Task::kClassify ? std::optional(true) : std::nullopt);
}

const Head kHeads[] = {
    {"Detect", "task: detect\nend2end: false\n", Task::kDetect, Family::kYolo, false},
    {"BeforeEnd2End", "task: detect\n", Task::kDetect, Family::kYolo, false},
    {"EndToEnd", "task: detect\nend2end: true\n", Task::kDetect, Family::kYoloEndToEnd, true},
    {"WithNms", "task: detect\nend2end: false\nargs: {nms: true}\n", Task::kDetect,
     Family::kYoloEndToEnd, true},
    {"AllInStrings", "task: 'detect'\nend2end: 'True'\nargs: \"{'batch': 1, 'nms': None}\"\n",
     Task::kDetect, Family::kYoloEndToEnd, true},
    {"OldFileOfYolov10", "description: Ultralytics YOLOv10n model trained on x\ntask: detect\n",
     Task::kDetect, Family::kYoloEndToEnd, true},
    {"Yolov10WithoutItsEnd",
     "description: Ultralytics YOLOv10n model\ntask: detect\nend2end: false\n", Task::kDetect,
     Family::kYolo, false},
    {"Segment", "task: segment\nend2end: false\n", Task::kSegment, Family::kYolo, false},
    {"Pose", "task: pose\nend2end: true\n", Task::kPose, Family::kYoloEndToEnd, true},
    {"Obb", "task: obb\n", Task::kOriented, Family::kYolo, false},
    {"Classify", "task: classify\nend2end: false\n", Task::kClassify, Family::kClassification, {}},
    {"Semantic", "task: semantic\n", Task::kSemantic, Family::kSegmentation, {}},
    {"ANewTask", "task: smell\nend2end: true\n", Task::kUnknown, Family::kAuto, {}},
    {"RtDetrByName",
     "description: Ultralytics rtdetr-l model trained on coco.yaml\ntask: detect\n",
     Task::kDetect,
     Family::kRtDetr,
     {}},
    {"RtDetrByHead", "head: RTDETRDecoder\ntask: detect\n", Task::kDetect, Family::kRtDetr, {}},
    {"ANameInAPath",
     "head: Detect\ndescription: YOLO11n model trained on /rtdetr/a.yaml\ntask: detect\n",
     Task::kDetect, Family::kYolo, false},
    {"Depth", "head: Depth\ntask: depth\n", Task::kDepth, Family::kDepth, {}},
    {"AHeadOfANewerSeries", "head: Pose31\ntask: pose\n", Task::kPose, Family::kYolo, false},
    {"ANewHead", "head: Nose\ntask: detect\n", Task::kDetect, Family::kAuto, {}},
    {"Empty", "", Task::kUnknown, Family::kAuto, {}},
    {"ANumberOfYaml", "1: 2\n", Task::kUnknown, Family::kAuto, {}},
};

INSTANTIATE_TEST_SUITE_P(All, UltralyticsHead, testing::ValuesIn(kHeads), by_name);

TEST_F(UltralyticsCard, HasTheKeyPoints) {
  const ModelCard card =
      of("metadata.yaml",
         "task: pose\nkpt_shape: [3, 2]\nkpt_names:\n  0: [nose, left eye, right eye]\n");
  EXPECT_EQ(card.key_points, 3U);
  EXPECT_EQ(card.key_point_values, 2U);
  EXPECT_EQ(card.key_point_names, (std::vector<std::string>{"nose", "left eye", "right eye"}));
}

TEST_F(UltralyticsCard, HasTheSkeletonThatWasAdded) {
  write("metadata.yaml", "task: pose\nkpt_shape: [3, 2]\nskeleton: [[0, 1], [1, 2]]\n");
  EXPECT_EQ(read().skeleton,
            (std::vector<std::pair<std::uint32_t, std::uint32_t>>{{0, 1}, {1, 2}}));
}

// PyYAML writes a list that is there twice once, and Ultralytics has one for all classes.
TEST_F(UltralyticsCard, HasTheKeyPointsOfSeveralClasses) {
  const ModelCard card =
      of("metadata.yaml",
         "task: pose\nnames:\n  0: cat\n  1: dog\n  2: cow\nkpt_shape:\n- 2\n- 3\n"
         "kpt_names:\n  0: &id001\n  - '0'\n  - '1'\n  1: *id001\n  2: *id001\n");
  EXPECT_EQ(card.labels.size(), 3U);
  EXPECT_EQ(card.key_points, 2U);
  EXPECT_EQ(card.key_point_names, (std::vector<std::string>{"0", "1"}));
}

TEST_F(UltralyticsCard, TakesPythonsLiterals) {
  const ModelCard card = of("metadata.yaml",
                            "task: pose\nimgsz: '[320, 640]'\nkpt_shape: '[17, 3]'\n"
                            "names: \"{0: 'person', 2: \\\"man's hat\\\"}\"\n");
  EXPECT_EQ(card.input_height, 320U);
  EXPECT_EQ(card.key_points, 17U);
  EXPECT_EQ(card.labels, (std::vector<std::string>{"person", "", "man's hat"}));
}

TEST_F(UltralyticsCard, TakesOneNumberForASquare) {
  write("metadata.yaml", "imgsz: '640'\n");
  EXPECT_EQ(read().input_height, 640U);
  EXPECT_EQ(read().input_width, 640U);
}

TEST_F(UltralyticsCard, TakesTheThresholdOfItsArguments) {
  write("metadata.yaml", "task: detect\nargs:\n  nms: true\n  iou: 0.45\n");
  EXPECT_EQ(read(kUltralyticsInfo).iou_threshold, 0.45F);
}

/// How a frame becomes the input of an export whose IR does not say it.
class UltralyticsPreprocess : public UltralyticsCard {
 protected:
  npu::Preprocess after(const char* yaml, const Info& info = {}) {
    write("metadata.yaml", yaml);
    npu::Preprocess preprocess;
    preprocess.pad_value = 0;
    preprocess.channels = npu::ChannelOrder::kBGR;
    apply(read(info), &preprocess);
    return preprocess;
  }
};

TEST_F(UltralyticsPreprocess, IsThatOfAllItsYolos) {
  for (const char* yaml : {"task: detect", "task: segment", "task: pose\nend2end: true",
                           "task: obb\nargs: {nms: true}", "task: semantic"}) {
    const npu::Preprocess preprocess = after(yaml);
    EXPECT_EQ(preprocess.resize, npu::ResizeMode::kLetterbox) << yaml;
    EXPECT_EQ(preprocess.pad_value, 114.0F) << yaml;
    EXPECT_EQ(preprocess.channels, npu::ChannelOrder::kRGB) << yaml;
    EXPECT_EQ(preprocess.scale, std::vector<float>{255}) << yaml;
    EXPECT_TRUE(preprocess.mean.empty()) << yaml;
  }
  EXPECT_EQ(read().origins.at("scale"), "metadata.yaml");
}

TEST_F(UltralyticsPreprocess, HasNoBordersWhereOnlyTheMiddleCounts) {
  const npu::Preprocess preprocess = after("task: classify");
  EXPECT_EQ(preprocess.resize, npu::ResizeMode::kCrop);
  EXPECT_EQ(preprocess.crop_share, 1.0F);
  EXPECT_EQ(preprocess.channels, npu::ChannelOrder::kRGB);
  EXPECT_EQ(preprocess.scale, std::vector<float>{255});
}

TEST_F(UltralyticsPreprocess, IsNotThatOfOtherModels) {
  for (const char* yaml : {"task: smell", "imgsz: 640", "task: detect\nhead: Nose"}) {
    const npu::Preprocess preprocess = after(yaml);
    EXPECT_EQ(preprocess.channels, npu::ChannelOrder::kBGR) << yaml;
    EXPECT_TRUE(preprocess.scale.empty()) << yaml;
  }
}

// Their IRs say "letterbox".
TEST_F(UltralyticsPreprocess, StretchesWhereTheAuthorsDo) {
  for (const char* yaml : {"task: detect\nhead: RTDETRDecoder", "task: depth\nhead: Depth"}) {
    for (const char* type : {"", "fit_to_window_letterbox"}) {
      std::map<std::string, std::string> info;
      if (*type != '\0') {
        info = {{"resize_type", type}, {"scale_values", "255"}, {"pad_value", "114"}};
      }
      const npu::Preprocess preprocess = after(yaml, info);
      EXPECT_EQ(preprocess.resize, npu::ResizeMode::kStretch) << yaml << type;
      EXPECT_EQ(preprocess.scale, std::vector<float>{255}) << yaml << type;
    }
  }
}

TEST_F(UltralyticsCard, NamesATaskOrAHeadThatIsNew) {
  EXPECT_EQ(of("metadata.yaml", "task: smell\n").unknown, "task smell");
  const ModelCard card = of("metadata.yaml", "task: detect\nhead: Nose\nnames: {0: a}\n");
  EXPECT_EQ(card.unknown, "head Nose");
  const TensorView raw{
      .name = "output0", .type = ElementType::kF32, .rank = 3, .dims = {1, 5, 8400}};
  try {
    make_decoder(card, {&raw, 1}, {640, 640});
    FAIL() << "taken";
  } catch (const npu::Error& error) {
    EXPECT_NE(std::string(error.what()).find("head Nose, which this version does not know"),
              std::string::npos)
        << error.what();
  }
}

TEST_F(UltralyticsPreprocess, IsNotMixedWithWhatTheModelSays) {
  const npu::Preprocess scaled = after(kDetect, {{"scale_values", "128"}});
  EXPECT_EQ(scaled.scale, std::vector<float>{128});
  EXPECT_EQ(scaled.resize, npu::ResizeMode::kStretch);
  const npu::Preprocess stretched = after(kDetect, {{"resize_type", "standard"}});
  EXPECT_EQ(stretched.resize, npu::ResizeMode::kStretch);
  EXPECT_TRUE(stretched.scale.empty());
}

struct Bad : Named {
  const char* file;
  std::string text;
  const char* complaint;
};

class BadFile : public ModelCardFiles, public testing::WithParamInterface<Bad> {};

TEST_P(BadFile, IsRefusedWithItsNameAndKey) {
  write(GetParam().file, GetParam().text);
  const std::string message = complaint();
  EXPECT_TRUE(has(message, GetParam().file));
  EXPECT_TRUE(has(message, GetParam().complaint));
  EXPECT_LT(message.size(), 500U);
}

const char* const kYaml = "metadata.yaml";
const char* const kConfig = "config.json";
const char* const kPreprocessor = "preprocessor_config.json";
const Bad kBad[] = {
    {"NoYaml", kYaml, "task: [detect", "it is no YAML: line"},
    {"YamlNotUtf8", kYaml, "task: caf\xe9\n", "it is not UTF-8 text"},
    {"YamlWithZero", kYaml, std::string("task: a\0b\n", 10), "it is not UTF-8 text"},
    {"YamlZeroEscaped", kYaml, "task: \"a\\0b\"\n",
     "key \"task\": is not UTF-8 text, or has a zero"},
    {"YamlList", kYaml, "- a\n", "is no map"},
    {"YamlTwice", kYaml, "task: pose\ntask: obb\n", "it has the key \"task\" twice"},
    {"YamlAliasOfAWord", kYaml, "a: &a x\nnames: [*a]\n", "line 2: an alias of what is no list"},
    {"YamlAliasOfAMap", kYaml, "a: &a {0: x}\nnames: *a\n", "line 2: an alias of what is no list"},
    {"YamlAliasOfLists", kYaml, "a: &a [[x], y]\nnames: *a\n", "an alias of what is no list"},
    {"YamlAliasOfAliases", kYaml, "a: &a [x]\nb: &b [*a, y]\nc: *b\n",
     "line 3: an alias of what is no list"},
    {"YamlAliasOfItself", kYaml, "a: &a [*a]\n", "an alias of what is no list"},
    {"YamlAliasIsAKey", kYaml, "a: &a [x]\n*a : b\n", "line 2: a key is no text"},
    {"YamlAliasesOfLongWords", kYaml,
     [] {
       std::string text = "a: &a [" + std::string(100000, 'x') + "]\nb: [";
       for (int i = 0; i < 10000; ++i) text += "*a, ";
       return text + "]\n";
     }(),
     "line 2: its aliases stand for too much"},
    {"YamlAliasesOfManyWords", kYaml,
     [] {
       std::string text = "a: &a [";
       for (int i = 0; i < 1000; ++i) text += "'',";
       text += "]\nb: [";
       for (int i = 0; i < 1000; ++i) text += "*a, ";
       return text + "]\n";
     }(),
     "more than 262144 values"},
    {"YamlKeyIsAList", kYaml, "? [a]\n: b\n", "a key is no text"},
    {"YamlDeep", kYaml,
     [] {
       std::string text;
       for (int i = 0; i < 10000; ++i) text += "a: [";
       return text;
     }(),
     "nested deeper than 32 levels"},
    {"YamlDeepBlocks", kYaml,
     [] {
       std::string text;
       for (int i = 0; i < 10000; ++i) text += "- ";
       return text;
     }(),
     "nested deeper than 32 levels"},
    {"YamlWide", kYaml,
     "a: [" +
         [] {
           std::string text;
           for (int i = 0; i < 300000; ++i) text += "b,";
           return text;
         }() +
         "]",
     "more than 262144 values"},
    {"YamlHuge", kYaml, std::string(2000000, '#'), "1048576"},
    {"TaskIsAMap", kYaml, "task: {a: b}\n", "key \"task\": is no text"},
    {"NamesAreANumber", kYaml, "names: 80\n", "key \"names\": is no map"},
    {"NamesWithALetter", kYaml, "names: {a: b}\n", "key \"names\": has the key \"a\""},
    {"NamesTooFar", kYaml, "names: {65536: b}\n", "not the number of a class below 65536"},
    {"NamesBelowZero", kYaml, "names: {-1: b}\n", "key \"names\""},
    {"NameIsAList", kYaml, "names: {0: [b]}\n", "key \"names/0\": is no text"},
    {"SizeOfThree", kYaml, "imgsz: [1, 2, 3]\n", "key \"imgsz\": is not [height, width]"},
    {"SizeOfNothing", kYaml, "imgsz: [0, 640]\n", "key \"imgsz/0\": is 0, not a number"},
    {"SizeNotFinite", kYaml, "imgsz: [nan, 640]\n", "key \"imgsz/0\": is nan, not a number"},
    {"SizeInWords", kYaml, "imgsz: large\n", "is \"large\", which is no number"},
    {"KeyPointsOfFour", kYaml, "kpt_shape: [17, 4]\n", "key \"kpt_shape/1\": is 4"},
    {"SkeletonBeyond", kYaml, "kpt_shape: [2, 3]\nskeleton: [[0, 2]]\n",
     "key \"skeleton/0/1\": is 2"},
    {"SkeletonOfOne", kYaml, "kpt_shape: [2, 3]\nskeleton: [[0]]\n", "is no pair"},
    {"KeyPointNames", kYaml, "kpt_shape: [2, 3]\nkpt_names: [a]\n", "has not the 2 entries"},
    {"End2EndInWords", kYaml, "task: detect\nend2end: perhaps\n",
     "key \"end2end\": is neither true nor false"},
    {"NmsInWords", kYaml, "task: detect\nargs: {nms: 2}\n", "key \"args/nms\""},
    {"ArgsAreAList", kYaml, "task: detect\nargs: [nms]\n", "key \"args\": is no map"},
    {"NamesTwice", kYaml, "names: {0: a, 1: b, 01: c}\n", "key \"names\": has class 1 twice"},
    {"NamesTwiceAsFractions", kConfig, R"({"id2label": {"1": "a", "1.0": "b"}})",
     "key \"id2label\": has class 1 twice"},
    {"NoJson", kConfig, "{\"a\": nan}", "it is no JSON: line 1, column"},
    {"NoJsonBehindNan", kConfig, "{\"a\": NaN, \"b\": nan}", "it is no JSON: line 1, column 18"},
    {"NanInAList", kConfig, R"({"pretrained_cfg": {"mean": [0.5, NaN]}})",
     "key \"pretrained_cfg/mean/1\": is no number"},
    {"JsonHuge", kConfig, std::string(9000000, ' '), "8388608"},
    {"ConfigList", kConfig, "[1]", "is no map"},
    {"Architectures", kConfig, R"({"architectures": "ViT"})", "key \"architectures\": is no list"},
    {"Id2Label", kConfig, R"({"id2label": {"0": 1}})", "key \"id2label/0\": is no text"},
    {"NumberAsText", kConfig, R"({"pretrained_cfg": {"mean": ["0.5"]}})",
     "key \"pretrained_cfg/mean/0\": is no number"},
    {"StdOfZero", kConfig, R"({"pretrained_cfg": {"std": [0.0]}})",
     "key \"pretrained_cfg/std/0\": is 0, not"},
    {"InputSize", kConfig, R"({"pretrained_cfg": {"input_size": [3, 224]}})",
     "is not [channels, height, width]"},
    {"CropOfNothing", kPreprocessor,
     R"({"do_center_crop": true, "crop_size": 32, "size": {"shortest_edge": 65535}})",
     "key \"size\": cuts 32 pixels out of 65535"},
    {"ImageStd", kPreprocessor, R"({"image_std": [1, 0]})", "key \"image_std/1\": is 0"},
    {"Factor", kPreprocessor, R"({"rescale_factor": 0})", "key \"rescale_factor\": is 0"},
    {"MeanOutOfReach", kPreprocessor, R"({"image_mean": 1000, "rescale_factor": 0.000001})",
     "preprocessor_config.json: gives a mean or a scale that no grey levels have"},
    {"DoRescale", kPreprocessor, R"({"do_rescale": "yes"})", "key \"do_rescale\""},
    {"Size", kPreprocessor, R"({"size": {"width": 0, "height": 2}})", "key \"size/width\": is 0"},
    {"Characters", "inference.yml", "PostProcess: {character_dict: abc}\n",
     "key \"PostProcess/character_dict\": is no list"},
    {"LabelsNotUtf8", "labels.txt", "caf\xe9\n", "is not UTF-8 text: line 1"},
    {"ManyLabels", "labels.txt",
     [] {
       std::string text;
       for (int i = 0; i < 70000; ++i) text += "a\n";
       return text;
     }(),
     "more than 65536 labels"},
    {"ModelInfo", "m.modelinfo", "[modelinfo]\nversion=2.0\n", "only 1.x is known"},
};

INSTANTIATE_TEST_SUITE_P(All, BadFile, testing::ValuesIn(kBad), by_name);

struct Type {
  const char* name;
  Task task;
  Family family;
};

class ModelApiCard : public ModelCardFiles, public testing::WithParamInterface<Type> {};

TEST_P(ModelApiCard, HasTheFamilyOfItsType) {
  const ModelCard card = read({{"model_type", GetParam().name}});
  EXPECT_EQ(card.task, GetParam().task);
  EXPECT_EQ(card.family, GetParam().family);
}

const Type kTypes[] = {{"ssd", Task::kDetect, Family::kSsd},
                       {"SSD", Task::kDetect, Family::kSsd},
                       {"Classification", Task::kClassify, Family::kClassification},
                       {"Segmentation", Task::kSemantic, Family::kSegmentation},
                       {"keypoint_detection", Task::kKeyPoints, Family::kSimcc},
                       {"AnomalyDetection", Task::kAnomaly, Family::kAnomaly},
                       {"YOLOv8", Task::kDetect, Family::kYolo},
                       {"YOLO", Task::kUnknown, Family::kAuto},
                       {"ActionClassification", Task::kUnknown, Family::kAuto}};

INSTANTIATE_TEST_SUITE_P(All, ModelApiCard, testing::ValuesIn(kTypes), [](const auto& row) {
  return row.param.name + std::to_string(row.index);
});

using GetiCard = ModelCardFiles;

TEST_F(GetiCard, SaysWhoSuppressesOverlaps) {
  const ModelCard card =
      read({{"nms_execute", "True"}, {"agnostic_nms", "False"}, {"nms_max_predictions", "0"}});
  EXPECT_EQ(card.suppresses, true);
  EXPECT_EQ(card.agnostic, false);
  EXPECT_GE(card.max_objects.value_or(0), 1000000U) << "0 is no limit";
}

TEST_F(GetiCard, HasNoThresholdForTheBestClass) {
  std::map<std::string, std::string> info = {{"model_type", "Classification"},
                                             {"confidence_threshold", "0.5"}};
  EXPECT_FALSE(read(info).confidence_threshold);
  info["multilabel"] = "False";
  EXPECT_FALSE(read(info).confidence_threshold);
  info["multilabel"] = "True";
  EXPECT_EQ(read(info).confidence_threshold, 0.5F);
  info["model_type"] = "ssd";
  EXPECT_EQ(read(info).confidence_threshold, 0.5F);
}

TEST_F(GetiCard, IsAllThatItsModelInfoSays) {
  const ModelCard card = read({{"model_type", "AnomalyDetection"},
                               {"labels", "Normal Anomaly"},
                               {"confidence_threshold", "0.35"},
                               {"image_threshold", "12.5"},
                               {"pixel_threshold", "-3"},
                               {"normalization_scale", "1.5e2"},
                               {"nms_max_predictions", "200"},
                               {"multilabel", "False"},
                               {"output_raw_scores", "True"},
                               {"mean_values", "123.675 116.28 103.53"},
                               {"scale_values", "[58.395, 57.12, 57.375]"},
                               {"resize_type", "standard"},
                               {"reverse_input_channels", "NO"},
                               {"pad_value", "None"},
                               {"orig_width", "256"},
                               {"orig_height", "128"}});
  EXPECT_EQ(card.labels, (std::vector<std::string>{"Normal", "Anomaly"}));
  EXPECT_EQ(card.confidence_threshold, 0.35F);
  EXPECT_EQ(card.image_threshold, 12.5F);
  EXPECT_EQ(card.pixel_threshold, -3.0F);
  EXPECT_EQ(card.normalization_scale, 150.0F);
  EXPECT_EQ(card.max_objects, 200U);
  EXPECT_EQ(card.multilabel, false);
  EXPECT_FALSE(card.raw_scores) << "asks for all scores to be told, and is none of the softmax";
  EXPECT_EQ(card.mean, (std::vector<float>{123.675F, 116.28F, 103.53F}));
  EXPECT_EQ(card.scale, (std::vector<float>{58.395F, 57.12F, 57.375F}));
  EXPECT_EQ(card.resize, npu::ResizeMode::kStretch);
  EXPECT_EQ(card.pad_value, 0.0F);
  EXPECT_EQ(card.channels, npu::ChannelOrder::kBGR);
  EXPECT_EQ(card.input_width, 256U);
  EXPECT_EQ(card.input_height, 128U);
  EXPECT_EQ(card.origins.at("mean"), "model_info");
}

TEST_F(GetiCard, RefusesValuesWithTheModelAndTheKey) {
  EXPECT_TRUE(has(complaint({{"confidence_threshold", "high"}}),
                  "m.xml: model_info: key \"confidence_threshold\": is \"high\""));
  EXPECT_TRUE(has(complaint({{"iou_threshold", "7"}}), "not a number from 0 to 1"));
  EXPECT_TRUE(has(complaint({{"image_threshold", "nan"}}), "image_threshold"));
  EXPECT_TRUE(has(complaint({{"multilabel", "maybe"}}), "neither true nor false"));
  EXPECT_TRUE(has(complaint({{"scale_values", "0"}}), "scale_values"));
  EXPECT_TRUE(has(complaint({{"mean_values", "1 2 3 4 5"}}), "more than 4"));
  EXPECT_TRUE(has(complaint({{"labels", "caf\xe9"}}), "is not UTF-8 text"));
}

// One softmax over all levels would look like an answer.
TEST_F(GetiCard, OfSeveralLevelsSaysNothingOfClasses) {
  const Info info = {{"model_type", "Classification"}, {"labels", "a b"}, {"multilabel", "False"}};
  Info levels = info;
  levels["hierarchical"] = "True";
  EXPECT_EQ(read(levels).task, Task::kUnknown);
  EXPECT_TRUE(read(levels).labels.empty());
  levels["hierarchical"] = "False";
  EXPECT_EQ(read(levels).to_json(), read(info).to_json());
}

struct LevelsRow : Named {
  const char* wrong;  ///< in kLevels
  const char* instead;
  const char* says;
};
constexpr const char* kLevels = R"({"cls_heads_info": {"num_multiclass_heads": 1,
  "num_multilabel_classes": 1, "num_single_label_classes": 2,
  "head_idx_to_logits_range": {"0": [0, 2]}, "all_groups": [["tree", "bee"], ["wet bee"]],
  "label_to_idx": {"bee": 0, "tree": 1, "wet bee": 2}}, "label_tree_edges": [["wet bee", "bee"]]})";

ModelCard card_of_levels(const std::string& levels) {
  return read_model_card("/nowhere/model.xml", {{"model_type", "Classification"},
                                                {"hierarchical", "True"},
                                                {"labels", "bee tree wet_bee"},
                                                {"hierarchical_config", levels}});
}

TEST(LevelsOfACard, AreThoseOfGeti) {
  const ModelCard card = ModelCard::from_json(card_of_levels(kLevels).to_json());
  using Pairs = std::vector<std::pair<std::uint32_t, std::uint32_t>>;
  EXPECT_EQ(card.task, Task::kClassify);
  EXPECT_EQ(card.labels, (std::vector<std::string>{"bee", "tree", "wet bee"}));
  EXPECT_EQ(card.level_values, (Pairs{{0, 1}, {0, 0}, {1, 2}}));
  EXPECT_EQ(card.exclusive_groups, 1U);
  EXPECT_EQ(card.level_parents, (Pairs{{2, 0}}));
}

TEST(LevelsOfACard, SayNothingBesideQuestionsOfTheirOwnOrAnotherTask) {
  for (const auto& [key, value] :
       std::map<std::string, std::string>{{"multilabel", "True"}, {"model_type", "ssd"}}) {
    Info info{{"model_type", "Classification"},
              {"hierarchical", "True"},
              {"hierarchical_config", kLevels}};
    info[key] = value;
    const ModelCard card = read_model_card("/nowhere/model.xml", info);
    EXPECT_EQ(card.task, Task::kUnknown) << key;
    EXPECT_TRUE(card.labels.empty()) << key;
  }
}

class WrongLevels : public testing::TestWithParam<LevelsRow> {};

TEST_P(WrongLevels, AreNamed) {
  std::string levels = kLevels;
  const std::string wrong = GetParam().wrong;
  levels.replace(levels.find(wrong), wrong.size(), GetParam().instead);
  const std::string said = thrown_by([&] { card_of_levels(levels); });
  EXPECT_TRUE(has(said, "hierarchical_config"));
  EXPECT_TRUE(has(said, GetParam().says));
}

INSTANTIATE_TEST_SUITE_P(
    Table, WrongLevels,
    testing::Values(
        LevelsRow{"no_json", "{\"cls", "\"cls", "hierarchical_config"},
        LevelsRow{"no_heads", "cls_heads_info", "heads", "has no \"cls_heads_info\""},
        LevelsRow{"number_twice", "\"tree\": 1", "\"tree\": 0", "of another label, too"},
        LevelsRow{"number_beyond", "\"tree\": 1", "\"tree\": 3", "label_to_idx/tree"},
        LevelsRow{"unknown_label", "[\"tree\", \"bee\"]", "[\"tree\", \"wasp\"]",
                  "\"wasp\", which is none"},
        LevelsRow{"no_name", "\"tree\": 1", "\"\": 1", "of one without a name"},
        LevelsRow{"range", "[0, 2]", "[0, 3]", "is not the values from 0 to 2"},
        LevelsRow{"range_begins_later", "[0, 2]", "[1, 2]", "is not the values from 0 to 2"},
        LevelsRow{"range_elsewhere", "[0, 2]", "[1, 3]", "is not the values from 0 to 2"},
        LevelsRow{"first_question", "\"num_single_label_classes\": 2",
                  "\"num_single_label_classes\": 3", "number of values in front"},
        LevelsRow{"two_labels_of_a_question", "[\"wet bee\"]]", "[\"wet bee\", \"bee\"]]",
                  "is not one label"},
        LevelsRow{"fewer_groups", "\"num_multiclass_heads\": 1", "\"num_multiclass_heads\": 2",
                  "has fewer groups"},
        LevelsRow{"edge_of_three", "\"bee\"]]}", "\"bee\", \"tree\"]]}", "is no pair"}),
    by_name);

TEST_F(GetiCard, KnowsRowsThatOnlyResembleThoseOfYolo) {
  EXPECT_EQ(read({{"model_type", "YOLODETR"}}).end_to_end, false);
  EXPECT_FALSE(read({{"model_type", "YOLO"}}).end_to_end);
}

using HuggingFaceCard = ModelCardFiles;

TEST_F(HuggingFaceCard, TellsClassesThatExcludeEachOther) {
  const std::string classifier = R"({"architectures": ["ViTForImageClassification"],)";
  write("config.json", classifier + R"("problem_type": "multi_label_classification"})");
  EXPECT_EQ(read().multilabel, true);
  write("config.json", classifier + R"("problem_type": "single_label_classification"})");
  EXPECT_EQ(read().multilabel, false);
  write("config.json", classifier + R"("problem_type": "regression"})");
  EXPECT_EQ(read().raw_scores, true);
  write("config.json", classifier + R"("problem_type": null})");
  EXPECT_FALSE(read().multilabel);
  write("config.json", R"({"architectures": ["RTDetrForObjectDetection"], "problem_type": "x"})");
  EXPECT_EQ(read().multilabel, true);
}

TEST_F(HuggingFaceCard, OfAClassifier) {
  write("config.json", R"({"architectures": ["ViTForImageClassification"], "model_type": "vit",
    "id2label": {"0": "tench, Tinca tinca", "2": "goldfish", "1": "shark"}, "image_size": 224})");
  const ModelCard card =
      of("preprocessor_config.json", R"({"do_normalize": true, "do_rescale": true,
    "do_resize": true, "image_mean": [0.5, 0.5, 0.5], "image_std": [0.5, 0.5, 0.25],
    "rescale_factor": 0.00392156862745098, "size": {"height": 224, "width": 256}})");
  EXPECT_EQ(card.task, Task::kClassify);
  EXPECT_EQ(card.family, Family::kClassification);
  EXPECT_EQ(card.architecture, "ViTForImageClassification");
  EXPECT_EQ(card.labels, (std::vector<std::string>{"tench, Tinca tinca", "shark", "goldfish"}));
  EXPECT_EQ(card.mean, (std::vector<float>{127.5F, 127.5F, 127.5F}));
  EXPECT_EQ(card.scale, (std::vector<float>{127.5F, 127.5F, 63.75F}));
  EXPECT_EQ(card.channels, npu::ChannelOrder::kRGB);
  EXPECT_EQ(card.resize, npu::ResizeMode::kStretch);
  EXPECT_EQ(card.input_width, 256U);
  EXPECT_EQ(card.input_height, 224U);
  EXPECT_EQ(card.origins.at("labels"), "config.json");
  EXPECT_EQ(card.origins.at("mean"), "preprocessor_config.json");
}

// As json.dump() of Python writes numbers that are not finite.
TEST_F(HuggingFaceCard, TakesNumbersThatAreNotFiniteForAbsent) {
  write("config.json", R"({"architectures": ["ViTForImageClassification"], "init_std": NaN,
    "id2label": {"0": "a NaN \\", "1": "\"Infinity", "2": "NaN\" NaN"}, "limits": [-Infinity,NaN, Infinity]})");
  const ModelCard card =
      of("preprocessor_config.json", R"({"do_rescale": true, "do_normalize": false,
    "rescale_factor": NaN, "size": {"height": 224, "width": 256}})");
  EXPECT_EQ(card.labels, (std::vector<std::string>{"a NaN \\", "\"Infinity", "NaN\" NaN"}));
  EXPECT_EQ(card.input_width, 256U);
}

TEST_F(HuggingFaceCard, OfADetectionTransformer) {
  write("config.json", R"({"architectures": ["RTDetrV2ForObjectDetection"]})");
  const ModelCard card =
      of("preprocessor_config.json", R"({"do_normalize": false, "do_pad": false, "do_rescale": true,
    "do_resize": true, "image_mean": [0.485, 0.456, 0.406], "image_std": [0.229, 0.224, 0.225],
    "rescale_factor": 0.00392156862745098, "size": {"height": 640, "width": 640}})");
  EXPECT_EQ(card.task, Task::kDetect);
  EXPECT_EQ(card.family, Family::kDetr);
  EXPECT_EQ(card.multilabel, true);
  EXPECT_TRUE(card.mean.empty());
  EXPECT_EQ(card.scale, std::vector<float>{255});
}

TEST_F(HuggingFaceCard, TellsSoftmaxFromSigmoid) {
  write("config.json", R"({"architectures": ["DetrForObjectDetection"]})");
  EXPECT_EQ(read().multilabel, false);
  write("config.json", R"({"architectures": ["TableTransformerForObjectDetection"]})");
  EXPECT_EQ(read().family, Family::kDetr);
  EXPECT_EQ(read().multilabel, false);
  write("config.json",
        R"({"architectures": ["RTDetrForObjectDetection"], "use_focal_loss": false})");
  EXPECT_EQ(read().multilabel, false);
}

TEST_F(HuggingFaceCard, DecidesNothingForWhatIsNotKnown) {
  write("config.json", R"({"architectures": ["YolosForObjectDetection"]})");
  EXPECT_EQ(read().family, Family::kAuto);
  EXPECT_EQ(read().task, Task::kUnknown);
  EXPECT_EQ(read().architecture, "YolosForObjectDetection");
}

TEST_F(HuggingFaceCard, LeavesTheTaskOfUniversalSegmentationOpen) {
  for (const char* architecture :
       {"MaskFormerForInstanceSegmentation", "Mask2FormerForUniversalSegmentation",
        "OneFormerForUniversalSegmentation"}) {
    write("config.json", std::string(R"({"architectures": [")") + architecture +
                             R"("], "id2label": {"0": "person", "1": "sky"}})");
    const ModelCard card = of("preprocessor_config.json", R"({"do_normalize": true,
      "do_rescale": true, "do_resize": true, "ignore_index": 255, "reduce_labels": false,
      "image_mean": [0.485, 0.456, 0.406], "image_std": [0.229, 0.224, 0.225],
      "rescale_factor": 0.00392156862745098, "size": {"height": 384, "width": 384},
      "size_divisor": 32})");
    EXPECT_EQ(card.family, Family::kMaskQueries);
    EXPECT_EQ(card.task, Task::kUnknown);
    EXPECT_EQ(card.architecture, architecture);
    EXPECT_EQ(card.labels.size(), 2U);
    EXPECT_EQ(card.resize, npu::ResizeMode::kStretch);
  }
}

TEST_F(HuggingFaceCard, KnowsOtherTasks) {
  write("config.json", R"({"architectures": ["DepthAnythingForDepthEstimation"]})");
  EXPECT_EQ(read().family, Family::kDepth);
  write("config.json", R"({"architectures": ["SegformerForSemanticSegmentation"]})");
  EXPECT_EQ(read().family, Family::kSegmentation);
  write("config.json", R"({"architectures": ["CLIPVisionModelWithProjection"]})");
  EXPECT_EQ(read().family, Family::kEmbedding);
}

// As the hub has them for clip-vit-base-patch32 and siglip-base-patch16-224.
TEST_F(HuggingFaceCard, OfEncodersOfPictures) {
  write("config.json", R"({"architectures": ["CLIPModel"], "model_type": "clip",
    "text_config": {"id2label": {"0": "LABEL_0"}}, "vision_config": {"image_size": 224}})");
  const ModelCard clip = of("preprocessor_config.json", R"({"crop_size": 224,
    "do_center_crop": true, "do_normalize": true, "do_resize": true,
    "feature_extractor_type": "CLIPFeatureExtractor",
    "image_mean": [0.48145466, 0.4578275, 0.40821073],
    "image_std": [0.26862954, 0.26130258, 0.27577711], "resample": 3, "size": 224})");
  EXPECT_EQ(clip.task, Task::kEmbed);
  EXPECT_EQ(clip.family, Family::kEmbedding);
  EXPECT_TRUE(clip.labels.empty());
  EXPECT_EQ(clip.resize, npu::ResizeMode::kCrop);
  EXPECT_EQ(clip.crop_share, 1.0F) << "all of the shorter side";
  EXPECT_NEAR(clip.mean.at(0), 0.48145466 * 255, 1e-4);
  EXPECT_NEAR(clip.scale.at(2), 0.27577711 * 255, 1e-4);
  EXPECT_EQ(clip.channels, npu::ChannelOrder::kRGB);
  write("config.json", R"({"architectures": ["SiglipModel"], "model_type": "siglip"})");
  const ModelCard siglip = of("preprocessor_config.json", R"({"do_normalize": true,
    "do_rescale": true, "do_resize": true, "image_mean": [0.5, 0.5, 0.5],
    "image_processor_type": "SiglipImageProcessor", "image_std": [0.5, 0.5, 0.5],
    "processor_class": "SiglipProcessor", "resample": 3, "rescale_factor": 0.00392156862745098,
    "size": {"height": 224, "width": 224}})");
  EXPECT_EQ(siglip.task, Task::kEmbed);
  EXPECT_EQ(siglip.resize, npu::ResizeMode::kStretch);
  EXPECT_EQ(siglip.mean, std::vector<float>(3, 127.5F));
  EXPECT_EQ(siglip.scale, std::vector<float>(3, 127.5F));
}

TEST_F(HuggingFaceCard, TakesPlaceholdersForNoLabels) {
  write("config.json", R"({"id2label": {"0": "LABEL_0", "1": "LABEL_1"}})");
  EXPECT_TRUE(read().labels.empty());
  write("config.json", R"({"id2label": {"0": "LABEL_0", "1": "cat"}})");
  EXPECT_EQ(read().labels.size(), 2U);
}

TEST_F(HuggingFaceCard, TurnsTheFactorIntoGreyLevels) {
  write("preprocessor_config.json", R"({"do_rescale": false, "image_mean": 10, "image_std": 20})");
  EXPECT_EQ(read().mean, std::vector<float>{10});
  EXPECT_EQ(read().scale, std::vector<float>{20});
  write("preprocessor_config.json",
        R"({"rescale_factor": 0.0078125, "rescale_offset": true, "do_normalize": false})");
  EXPECT_EQ(read().mean, std::vector<float>{128});
  EXPECT_EQ(read().scale, std::vector<float>{128});
}

TEST_F(HuggingFaceCard, DividesTwiceForEfficientNets) {
  const std::string values = R"("image_mean": 0.5, "image_std": 0.5)";
  const auto scale = [&](const std::string& more) {
    write("preprocessor_config.json", "{" + more + values + "}");
    EXPECT_EQ(read().mean, std::vector<float>{127.5F});
    return read().scale;
  };
  EXPECT_EQ(scale(""), std::vector<float>{127.5F});
  EXPECT_EQ(scale(R"("include_top": true,)"), std::vector<float>{63.75F});
  const std::string type = R"("image_processor_type": "EfficientNetImageProcessor",)";
  EXPECT_EQ(scale(type), std::vector<float>{63.75F});
  EXPECT_EQ(scale(type + R"("include_top": false,)"), std::vector<float>{127.5F});
}

// DETR and YOLOS have such files: the frame keeps its aspect ratio, however the edges are written.
TEST_F(HuggingFaceCard, HasNoSizeWhereTheShortestAndLongestEdgeAreGiven) {
  for (const char* const size : {R"("size": 800, "max_size": 1333)",
                                 R"("size": {"shortest_edge": 800, "longest_edge": 1333})"}) {
    write("preprocessor_config.json", std::string("{\"do_resize\": true, ") + size + "}");
    const ModelCard card = read();
    EXPECT_FALSE(card.input_width) << size;
    EXPECT_FALSE(card.resize) << size;
  }
}

TEST_F(HuggingFaceCard, TakesTheSizeOfTheCrop) {
  write("preprocessor_config.json", R"({"do_center_crop": true, "crop_size": 224,
    "size": {"shortest_edge": 256}, "image_mean": [0, 0, 0]})");
  EXPECT_EQ(read().input_width, 224U);
  EXPECT_EQ(read().resize, npu::ResizeMode::kCrop);
  EXPECT_EQ(read().crop_share, 0.875F);
  write("preprocessor_config.json", R"({"do_center_crop": true, "crop_size": 224,
    "size": {"height": 256, "width": 256}})");
  EXPECT_FALSE(read().resize) << "stretched, then cropped";
}

// facebook/convnext-tiny-224 and -384, and newer ones, have such files.
TEST_F(HuggingFaceCard, TakesTheShareOfConvNext) {
  for (const char* const size : {"224", R"({"shortest_edge": 224})"}) {
    write("preprocessor_config.json", std::string(R"({"crop_pct": 0.875, "size": )") + size + "}");
    EXPECT_EQ(read().input_width, 224U);
    EXPECT_EQ(read().resize, npu::ResizeMode::kCrop);
    EXPECT_EQ(read().crop_share, 0.875F);
  }
  write("preprocessor_config.json", R"({"crop_pct": 0.875, "size": {"shortest_edge": 384}})");
  EXPECT_EQ(read().input_height, 384U);
  EXPECT_EQ(read().resize, npu::ResizeMode::kStretch);
}

TEST_F(HuggingFaceCard, KnowsWhatProcessorsMeanByTheSizeBeforeACrop) {
  const auto read_with = [this](const std::string& rest) {
    write("preprocessor_config.json",
          R"({"do_center_crop": true, "crop_size": 224, )" + rest + "}");
    return read();
  };
  EXPECT_EQ(read_with(R"("size": 224, "crop_pct": 0.9)").crop_share, 224.0F / 248.0F);
  EXPECT_EQ(
      read_with(R"("size": 224, "feature_extractor_type": "LevitFeatureExtractor")").crop_share,
      0.875F);
  EXPECT_FALSE(read_with(R"("size": 256, "feature_extractor_type": "DeiTFeatureExtractor")").resize)
      << "stretched, then cropped";
  EXPECT_EQ(read_with(R"("size": 224, "image_processor_type": "CLIPImageProcessor")").crop_share,
            1.0F);
}

TEST_F(HuggingFaceCard, TakesTheShareOfTimm) {
  write("config.json", R"({"pretrained_cfg": {"input_size": [3, 224, 224], "crop_pct": 0.9}})");
  EXPECT_EQ(read().resize, npu::ResizeMode::kCrop);
  EXPECT_EQ(read().crop_share, 224.0F / 248.0F);
  write("config.json", R"({"pretrained_cfg": {"input_size": [3, 224, 224], "crop_pct": 0.9,
    "crop_mode": "squash"}})");
  EXPECT_FALSE(read().resize);
}

TEST_F(HuggingFaceCard, KnowsModelsOfBgr) {
  write("preprocessor_config.json", R"({"do_flip_channel_order": true})");
  EXPECT_EQ(read().channels, npu::ChannelOrder::kBGR);
}

TEST_F(HuggingFaceCard, OfTimm) {
  const ModelCard card = of("config.json", R"({"architecture": "resnet50", "num_classes": 2,
    "label_names": ["n01", "n02"], "label_descriptions": {"n01": "tench"},
    "pretrained_cfg": {"input_size": [3, 224, 288], "mean": [0.485, 0.456, 0.406],
    "std": [0.2, 0.4, 1.0], "crop_pct": 0.95, "crop_mode": "center"}})");
  EXPECT_EQ(card.task, Task::kClassify);
  EXPECT_EQ(card.family, Family::kClassification);
  EXPECT_EQ(card.architecture, "resnet50");
  EXPECT_EQ(card.labels, (std::vector<std::string>{"tench", "n02"}));
  EXPECT_EQ(card.input_height, 224U);
  EXPECT_EQ(card.input_width, 288U);
  ASSERT_EQ(card.mean.size(), 3U);
  EXPECT_NEAR(card.mean[0], 123.675, 1e-4);
  EXPECT_NEAR(card.scale[1], 102, 1e-4);
}

TEST_F(HuggingFaceCard, OfTimmWithoutClassesIsAnEmbedding) {
  write("config.json", R"({"architecture": "vit_small", "num_classes": 0, "pretrained_cfg": {}})");
  EXPECT_EQ(read().family, Family::kEmbedding);
}

using PaddleCard = ModelCardFiles;

const char* const kInferenceYml = R"(Global:
  model_name: PP-OCRv5_mobile_rec
PreProcess:
  transform_ops:
  - DecodeImage:
      channel_first: false
      img_mode: BGR
  - MultiLabelEncode:
      gtc_encode: NRTRLabelEncode
  - RecResizeImg:
      image_shape:
      - 3
      - 48
      - 320
  - KeepKeys
PostProcess:
  name: CTCLabelDecode
  character_dict:
  - '0'
  - a
  - '~'
  - 1
)";

TEST_F(PaddleCard, OfATextReader) {
  const ModelCard card = of("inference.yml", kInferenceYml);
  EXPECT_EQ(card.task, Task::kReadText);
  EXPECT_EQ(card.family, Family::kCtc);
  EXPECT_EQ(card.architecture, "PP-OCRv5_mobile_rec");
  EXPECT_EQ(card.characters, (std::vector<std::string>{"0", "a", "~", "1"}));
  EXPECT_EQ(card.input_height, 48U);
  EXPECT_EQ(card.input_width, 320U);
  EXPECT_EQ(card.mean, std::vector<float>{127.5F});
  EXPECT_EQ(card.scale, std::vector<float>{127.5F});
  EXPECT_EQ(card.channels, npu::ChannelOrder::kBGR);
  EXPECT_EQ(card.resize, npu::ResizeMode::kFitToWindow) << "what is right of the line is empty";
  EXPECT_EQ(card.pad_value, 127.5F) << "which the model sees as 0";
  EXPECT_EQ(card.origins.at("characters"), "inference.yml");
  EXPECT_EQ(card.raw_scores, true) << "there is a softmax";
  EXPECT_EQ(card.channels_first, false);
}

TEST_F(PaddleCard, OfAnothersReaderLeavesItsSoftmaxOpen) {
  const ModelCard card =
      of("inference.yml", "PostProcess: {name: CTCLabelDecode, character_dict: [a, blank]}\n");
  EXPECT_EQ(card.family, Family::kCtc);
  EXPECT_FALSE(card.raw_scores);
  EXPECT_FALSE(card.channels_first);
}

TEST_F(PaddleCard, OfATextFinder) {
  const ModelCard card =
      of("config.json", R"({"Global": {"model_name": "PP-OCRv5_mobile_det"}, "PreProcess":
    {"transform_ops": [{"DecodeImage": {"img_mode": "RGB"}}, {"DetResizeForTest": null},
    {"NormalizeImage": {"mean": [0.5, 0.4, 0.2], "std": [0.2, 0.2, 0.2], "scale": "1./255.",
    "order": "hwc"}}]}, "PostProcess": {"name": "DBPostProcess", "thresh": 0.2, "box_thresh": 0.6,
    "max_candidates": 1000, "use_dilation": true, "unclip_ratio": 1.75}})");
  EXPECT_EQ(card.task, Task::kFindText);
  EXPECT_EQ(card.family, Family::kTextBoxes);
  EXPECT_EQ(card.confidence_threshold, 0.6F);
  EXPECT_EQ(card.channels, npu::ChannelOrder::kRGB);
  ASSERT_EQ(card.mean.size(), 3U);
  EXPECT_NEAR(card.mean[1], 102, 1e-4);
  EXPECT_NEAR(card.scale[2], 51, 1e-4);
  EXPECT_EQ(card.pixel_threshold, 0.2F);
  EXPECT_EQ(card.confidence_threshold, 0.6F);
  EXPECT_EQ(card.unclip_ratio, 1.75F);
  EXPECT_EQ(card.use_dilation, true);
}

using CardOrder = ModelCardFiles;

const char* const kModelInfoFile =
    "[modelinfo]\nversion=1.0\ngroup-id=yolo-v8-out\n[images]\ndir=input\n[output0]\ndir=output\n"
    "id=yolo-v8-out\nlabels=a,b\nconfidence-threshold=0.25\niou-threshold=0.6\n";

TEST_F(CardOrder, BeginsWithTheModelInfoFile) {
  write("m.modelinfo", kModelInfoFile);
  const ModelCard card = of("metadata.yaml", kDetect, kUltralyticsInfo);
  EXPECT_EQ(card.labels, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(card.confidence_threshold, 0.25F);
  EXPECT_EQ(card.iou_threshold, 0.6F);
  EXPECT_EQ(card.output, "output0");
  EXPECT_EQ(card.family, Family::kYolo);
  EXPECT_EQ(card.origins.at("labels"), "m.modelinfo");
  EXPECT_EQ(card.origins.at("input_width"), "metadata.yaml");
  EXPECT_EQ(card.origins.at("resize"), "model_info");
}

TEST_F(CardOrder, EndsWithTheLabelsFile) {
  write("labels.txt", "x\ny\n");
  EXPECT_EQ(read().labels, (std::vector<std::string>{"x", "y"}));
  EXPECT_EQ(read().origins.at("labels"), "labels.txt");
  write("config.json", R"({"id2label": {"0": "z"}})");
  EXPECT_EQ(read().origins.at("labels"), "config.json");
  EXPECT_EQ(read({{"labels", "w"}}).origins.at("labels"), "model_info");
  write("metadata.yaml", "names: [v]\n");
  EXPECT_EQ(read({{"labels", "w"}}).origins.at("labels"), "metadata.yaml");
}

TEST_F(CardOrder, DoesNotMixMeanAndScaleOfTwoFiles) {
  write("preprocessor_config.json", R"({"image_mean": [0.5], "image_std": [0.5]})");
  const ModelCard card = read({{"scale_values", "255"}});
  EXPECT_TRUE(card.mean.empty());
  EXPECT_EQ(card.scale, std::vector<float>{255});
}

TEST_F(CardOrder, PutsABlobsCardBeforeWhatLiesBesideIt) {
  write("metadata.yaml", kDetect);
  ModelCard card = read(kUltralyticsInfo);
  Info info = kUltralyticsInfo;
  info["npu_card"] = card.to_json();
  write("metadata.yaml", "task: segment\nend2end: true\nnames: [other]\n");
  EXPECT_EQ(read(info).to_json(), card.to_json());
  write("m.modelinfo", kModelInfoFile);
  EXPECT_EQ(read(info).labels, (std::vector<std::string>{"a", "b"}));
}

TEST_F(CardOrder, NamesTheBlobOfABadCard) {
  EXPECT_TRUE(
      has(complaint({{"npu_card", R"({"task":"guess"})"}}), "m.xml: npu_card: key \"task\""));
}

TEST_F(CardOrder, SignsWhatACardDoesNot) {
  EXPECT_EQ(read({{"npu_card", R"({"task":"pose"})"}}).origins.at("task"), "npu_card");
}

TEST_F(CardOrder, HasTheSizeToWhichTheGraphScales) {
  const ModelCard card = read({{"npu_inner_size", "256x128"}});
  EXPECT_EQ(card.inner_width, 256U);
  EXPECT_EQ(card.inner_height, 128U);
  EXPECT_EQ(card.origins.at("inner_width"), "in the graph");
  EXPECT_FALSE(read({{"npu_inner_size", "256"}}).inner_width);
}

// It goes with each frame, and is copied often.
TEST_F(CardOrder, NamesAnArchitectureInAFewWords) {
  const std::string name(std::size_t{1} << 20, 'x');
  std::string umlauts = "a";
  for (int i = 0; i < 1000; ++i) umlauts += "\u00fc";
  EXPECT_EQ(read({{"npu_card", R"({"architecture":")" + name + "\"}"}}).architecture,
            std::string(256, 'x') + "...");
  const std::string cut =
      read({{"npu_card", R"({"architecture":")" + umlauts + "\"}"}}).architecture;
  EXPECT_EQ(cut.size(), 255 + 3) << "no half of a character";
  const std::string whole(256, 'y');
  EXPECT_EQ(read({{"npu_card", R"({"architecture":")" + whole + "\"}"}}).architecture, whole);
}

TEST_F(CardOrder, OfNothingIsNothing) {
  EXPECT_EQ(read().to_json(), "{}");
  EXPECT_EQ(read_model_card("no/such/folder/m.xml", {}).to_json(), "{}");
}

/// The working folder belongs to somebody else.
TEST_F(CardOrder, OfAModelInMemoryHasNoFiles) {
  write("labels.txt", "a\nb\n");
  write("metadata.yaml", "task: pose\n");
  write(".modelinfo", "[modelinfo]\n");
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(directory_.path());
  const ModelCard card = read_model_card({}, {{"model_type", "YOLOv8"}, {"labels", "cat dog"}});
  const ModelCard nothing = read_model_card({}, {});
  std::filesystem::current_path(before);
  EXPECT_EQ(nothing.to_json(), "{}");
  EXPECT_EQ(card.labels, (std::vector<std::string>{"cat", "dog"}));
  EXPECT_EQ(card.task, Task::kDetect);
  EXPECT_EQ(card.origins.at("labels"), "model_info");
  EXPECT_EQ(read_model_card({}, {{"npu_card", R"({"task":"pose"})"}}).task, Task::kPose);
  try {
    read_model_card({}, {{"npu_card", "{"}});
    ADD_FAILURE() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_TRUE(has(error.what(), "the model in memory: npu_card"));
  }
}

TEST_F(CardOrder, TakesNoFileFromOutside) {
  const test::TempDir outside;
  outside.write("pose", "task: pose\n");
  for (const char* name : {"labels.txt", "metadata.yaml", "m.modelinfo"}) {
    const auto link = directory_.path() / name;
    std::filesystem::create_symlink(outside.path() / "pose", link);
    EXPECT_TRUE(has(complaint(), "leads out of the folder"));
    std::filesystem::remove(link);
  }
  std::filesystem::create_symlink("nowhere", directory_.path() / "m.xml.modelinfo");
  EXPECT_NE(complaint(), "none") << "a link to nothing is no file that is missing";
  std::filesystem::remove(directory_.path() / "m.xml.modelinfo");
  write("inside", "task: pose\n");
  std::filesystem::create_symlink("inside", directory_.path() / "metadata.yaml");
  EXPECT_EQ(read().task, Task::kPose);
}

TEST_F(CardOrder, TakesNoFolderForAFile) {
  std::filesystem::create_directory(directory_.path() / "config.json");
  EXPECT_NE(complaint(), "none");
}

using ModelInfoCard = ModelCardFiles;

TEST_F(ModelInfoCard, OfSeveralOutputsTakesOnlyTheOneThatIsKnown) {
  write("m.modelinfo",
        "[modelinfo]\nversion=1.0\ngroup-id=g\n[a]\ndir=output\nlabels=x\n[b]\ndir=output\n");
  EXPECT_EQ(read().to_json(), "{}");
  write("m.modelinfo",
        "[modelinfo]\nversion=1.0\ngroup-id=g\n[a]\ndir=output\nlabels=x\n[b]\ndir=output\n"
        "id=yolo-v8-out\n");
  EXPECT_EQ(read().output, "b");
  EXPECT_TRUE(read().labels.empty());
}

TEST_F(ModelInfoCard, InColumnMajorOrderHasItsChannelsFirst) {
  write("m.modelinfo",
        "[modelinfo]\nversion=1.0\ngroup-id=g\n[a]\ndir=output\ndims-order=col-major\n");
  EXPECT_EQ(read().channels_first, true);
}

TEST_F(ModelInfoCard, OfOneOutputTakesIt) {
  write("m.modelinfo",
        "[modelinfo]\nversion=1.0\ngroup-id=g\n[i]\ndir=input\n[a]\ndir=output\nlabels=x\n");
  EXPECT_EQ(read().output, "a");
  EXPECT_EQ(read().labels, std::vector<std::string>{"x"});
  EXPECT_EQ(read().task, Task::kUnknown);
}

}  // namespace
}  // namespace npu::vision
