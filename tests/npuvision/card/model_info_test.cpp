#include "card/model_info.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>

#include <npucore/error.hpp>
#include <npuvision/labels.hpp>

#include "support/expect_error.hpp"
#include "support/temp_dir.hpp"

namespace {

using npu::vision::ModelInfo;
using npu::vision::ModelInfoTensor;

class Files : public testing::Test {
 protected:
  std::string write(const std::string& name, const std::string& text) const {
    return directory_.write(name, text);
  }

  npu::test::TempDir directory_;
};

const char* const kYolo = R"(# a detector
[modelinfo]
version=1.0
group-id=yolo-v8-out

[images]
dir=input
type=uint8
dims=1,3,640,640
ranges=0.0,255.0

[output0]
dir=output
id=yolo-v8-out
type=float32
dims=1, 84, -1
dims-order=col-major
labels=circle, red square ,triangle
confidence-threshold=0.25
iou-threshold=0.7
)";

#define HEAD "[modelinfo]\nversion=1.0\ngroup-id=g\n[o]\n"
#define OUTPUT HEAD "dir=output\n"

using ModelInfoFile = Files;

TEST_F(ModelInfoFile, GivesEveryTensor) {
  const ModelInfo info = npu::vision::read_model_info(write("m.modelinfo", kYolo));
  EXPECT_EQ(info.group_id, "yolo-v8-out");
  ASSERT_EQ(info.tensors.size(), 2u);
  EXPECT_TRUE(info.tensors[0].is_input);
  EXPECT_EQ(info.tensors[0].name, "images");
  EXPECT_EQ(info.tensors[0].type, "uint8");
  EXPECT_FALSE(info.tensors[0].is_column_major);
  EXPECT_FALSE(info.tensors[1].is_input);
}

TEST_F(ModelInfoFile, GivesTheOutputsKeys) {
  const ModelInfo info = npu::vision::read_model_info(write("m.modelinfo", kYolo));
  const ModelInfoTensor* output = info.find_output("output0");
  ASSERT_NE(output, nullptr);
  EXPECT_EQ(output, info.find_output_by_id("yolo-v8-out"));
  EXPECT_EQ(output->dims, (std::vector<std::int64_t>{1, 84, -1}));
  EXPECT_TRUE(output->is_column_major);
  EXPECT_EQ(output->labels, (std::vector<std::string>{"circle", "red square", "triangle"}));
  EXPECT_EQ(output->confidence_threshold, 0.25);
  EXPECT_EQ(output->iou_threshold, 0.7);
}

TEST_F(ModelInfoFile, TakesNoInputForAnOutput) {
  const ModelInfo info = npu::vision::read_model_info(write("m.modelinfo", kYolo));
  EXPECT_EQ(info.find_output("images"), nullptr);
}

TEST_F(ModelInfoFile, LeavesOptionalKeysOpen) {
  const ModelInfo info = npu::vision::read_model_info(
      write("m.modelinfo", "[modelinfo]\nversion=1.3\ngroup-id=g\n[o]\ndir=output\nnew-key=1\n"));
  ASSERT_EQ(info.tensors.size(), 1u);
  EXPECT_TRUE(info.tensors[0].dims.empty());
  EXPECT_TRUE(info.tensors[0].labels.empty());
  EXPECT_FALSE(info.tensors[0].confidence_threshold.has_value());
}

TEST_F(ModelInfoFile, ReadsLabelsFromAFileBesideIt) {
  write("names.txt", "circle\r\nsquare\r\n\n");
  const ModelInfo info = npu::vision::read_model_info(
      write("m.modelinfo",
            "[modelinfo]\nversion=1.0\ngroup-id=g\n[o]\ndir=output\nlabels-file=names.txt\n"));
  EXPECT_EQ(info.tensors[0].labels, (std::vector<std::string>{"circle", "square"}));
}

TEST_F(ModelInfoFile, MayHaveItsLabelsBelowItsFolder) {
  std::filesystem::create_directory(directory_.path() / "data");
  write("data/names.txt", "circle\n");
  // As Kubernetes mounts a configuration: links that stay inside.
  std::filesystem::create_symlink("data/names.txt", directory_.path() / "names.txt");
  const std::string path = write("m.modelinfo", OUTPUT "labels-file=names.txt\n");
  EXPECT_EQ(npu::vision::read_model_info(path).tensors[0].labels,
            std::vector<std::string>{"circle"});
}

/// Files that a .modelinfo names, though they are none of its model's.
struct OutsideRow {
  const char* name;
  const char* labels_file;
  const char* complaint;
};

class LabelsOutside : public Files, public testing::WithParamInterface<OutsideRow> {};

TEST_P(LabelsOutside, AreNotRead) {
  write("secret.txt", "secret\n");
  const auto model = directory_.path() / "model";
  std::filesystem::create_directory(model);
  std::filesystem::create_symlink("../secret.txt", model / "link");
  ASSERT_EQ(::mkfifo((model / "fifo").c_str(), 0600), 0);
  const std::string path =
      write("model/m.modelinfo", OUTPUT "labels-file=" + std::string(GetParam().labels_file));
  expect_error(npu::ErrorCode::kInvalidArgument, GetParam().complaint,
               [&] { const auto info = npu::vision::read_model_info(path); });
}

INSTANTIATE_TEST_SUITE_P(
    All, LabelsOutside,
    testing::Values(OutsideRow{"Absolute", "/etc/passwd", "leads out of the folder"},
                    OutsideRow{"Device", "/dev/zero", "leads out of the folder"},
                    OutsideRow{"Parent", "../secret.txt", "leads out of the folder"},
                    OutsideRow{"Link", "link", "leads out of the folder"},
                    OutsideRow{"Fifo", "fifo", "it is a FIFO, not a regular file"},
                    OutsideRow{"Folder", ".", "it is a folder, not a regular file"}),
    by_name);

TEST_F(ModelInfoFile, MayHaveCommentsInAnotherEncoding) {
  const ModelInfo info = npu::vision::read_model_info(
      write("m.modelinfo", "# caf\xe9\n" OUTPUT "[caf\xc3\xa9]\ndir=output\n"));
  EXPECT_EQ(info.tensors.at(1).name, "caf\xc3\xa9");
}

TEST_F(ModelInfoFile, MayBeginWithAByteOrderMark) {
  const auto info = npu::vision::read_model_info(write("m.modelinfo", "\xEF\xBB\xBF" OUTPUT));
  EXPECT_EQ(info.tensors.at(0).name, "o");
}

TEST_F(ModelInfoFile, LabelsMayHoldAComma) {
  const ModelInfo info = npu::vision::read_model_info(write(
      "m.modelinfo", "[modelinfo]\nversion=1.0\ngroup-id=g\n[o]\ndir=output\nlabels=a\\,b,c\n"));
  EXPECT_EQ(info.tensors[0].labels, (std::vector<std::string>{"a,b", "c"}));
}

struct BadRow {
  const char* name;
  const char* text;
  const char* complaint;
};

class BadModelInfo : public Files, public testing::WithParamInterface<BadRow> {};

TEST_P(BadModelInfo, IsRefusedByFileGroupAndKey) {
  const std::string path = write("m.modelinfo", GetParam().text);
  const std::string said = expect_error(npu::ErrorCode::kInvalidArgument, path,
                                        [&] { npu::vision::read_model_info(path); });
  EXPECT_TRUE(has(said, GetParam().complaint));
}

INSTANTIATE_TEST_SUITE_P(
    All, BadModelInfo,
    testing::Values(
        BadRow{"Empty", "", "group [modelinfo] is missing"},
        BadRow{"NoKeyFile", "<xml/>", "cannot read"},
        BadRow{"GroupNotUtf8", HEAD "[caf\xe9]\ndir=output\n",
               ": line 5 is not UTF-8: save the file"},
        BadRow{"ValueNotUtf8", OUTPUT "labels=caf\xe9\n", ": line 6 is not UTF-8"},
        BadRow{"NoVersion", "[modelinfo]\ngroup-id=g\n", "version"},
        BadRow{"OtherVersion", "[modelinfo]\nversion=2.0\ngroup-id=g\n",
               "group [modelinfo], key \"version\": is 2.0, but only 1.x is known"},
        BadRow{"VersionTen", "[modelinfo]\nversion=10\ngroup-id=g\n", "key \"version\": is 10"},
        BadRow{"NoGroupId", "[modelinfo]\nversion=1.0\n", "group-id"},
        BadRow{"Placeholder", "[modelinfo]\nversion=1.0\ngroup-id=PLACEHOLDER\n",
               "key \"group-id\": still holds \"PLACEHOLDER\""},
        BadRow{"NoDirection", HEAD "type=float32\n", "group [o], key \"dir\": is missing"},
        BadRow{"OtherDirection", HEAD "dir=sideways\n",
               "group [o], key \"dir\": is \"sideways\", not input or output"},
        BadRow{"OtherOrder", OUTPUT "dims-order=random\n", "not row-major or col-major"},
        BadRow{"BadDim", OUTPUT "dims=1,x,3\n",
               "group [o], key \"dims\": \"x\" is not a dimension"},
        BadRow{"NegativeDim", OUTPUT "dims=1,-2\n", "\"-2\" is not a dimension"},
        BadRow{"ThresholdWord", OUTPUT "confidence-threshold=high\n",
               "key \"confidence-threshold\": is \"high\", not a number from 0 to 1"},
        BadRow{"ThresholdPercent", OUTPUT "iou-threshold=70\n", "key \"iou-threshold\": is \"70\""},
        BadRow{"ThresholdNan", OUTPUT "iou-threshold=nan\n", "not a number from 0 to 1"},
        BadRow{"WrongEscape", OUTPUT "type=\\loat32\n", "key \"type\""},
        BadRow{"EmptyLabels", OUTPUT "labels=\n", "key \"labels\": is empty"},
        BadRow{"TwoLabels", OUTPUT "labels=a\nlabels-file=b\n", "keep one of them"},
        BadRow{"NoLabelsFile", OUTPUT "labels-file=missing.txt\n", "key \"labels-file\": cannot"}),
    by_name);

TEST_F(ModelInfoFile, ThatIsAFifoIsRefusedAndNotWaitedFor) {
  const auto path = directory_.path() / "m.modelinfo";
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  EXPECT_THROW(npu::vision::read_model_info(path), npu::Error);
}

TEST_F(ModelInfoFile, HasALimitOfSize) {
  const auto path = write("m.modelinfo", OUTPUT);
  std::filesystem::resize_file(path, std::uintmax_t{1} << 40);
  EXPECT_THROW(npu::vision::read_model_info(path), npu::Error);
}

TEST_F(ModelInfoFile, WhoseGroupsNameOneLargeLabelsFileManyTimesIsRefused) {
  std::string labels;
  for (int i = 0; i < 600'000; ++i) labels += "a\n";
  write("many.txt", labels);
  std::string text = "[modelinfo]\nversion=1.0\ngroup-id=g\n";
  for (int i = 0; i < 1000; ++i) {
    text += "[t" + std::to_string(i) + "]\ndir=output\nlabels-file=many.txt\n";
  }
  EXPECT_TRUE(has(thrown_by([&] { npu::vision::read_model_info(write("m.modelinfo", text)); }),
                  "more than 1048576 labels together"));
}

using ModelInfoLookup = Files;

TEST_F(ModelInfoLookup, TriesTheWholeNameFirst) {
  write("net.modelinfo", "");
  const std::string expected = write("net.xml.modelinfo", "");
  EXPECT_EQ(npu::vision::find_model_info(directory_.path() / "net.xml"), expected);
}

TEST_F(ModelInfoLookup, ThenTheNameWithoutExtension) {
  const std::string expected = write("net.modelinfo", "");
  EXPECT_EQ(npu::vision::find_model_info(directory_.path() / "net.blob"), expected);
}

TEST_F(ModelInfoLookup, MayFindNothing) {
  EXPECT_EQ(npu::vision::find_model_info(directory_.path() / "net.xml"), std::nullopt);
}

using Labels = Files;

TEST(LabelList, LosesTheBlanksAroundLabels) {
  EXPECT_EQ(npu::vision::split_labels(" circle , red square", ','),
            (std::vector<std::string>{"circle", "red square"}));
}

TEST(LabelList, KeepsItsPlacesWhereALabelIsEmpty) {
  EXPECT_EQ(npu::vision::split_labels("a,,c,", ','), (std::vector<std::string>{"a", "", "c"}));
}

TEST(LabelList, OfBlanksHasNoEmptyLabels) {
  EXPECT_EQ(npu::vision::split_labels("cat  dog ", ' '), (std::vector<std::string>{"cat", "dog"}));
}

TEST(LabelList, MayBeEmpty) {
  EXPECT_TRUE(npu::vision::split_labels("", ',').empty());
}

TEST(LabelOf, AnUnknownClassIsItsNumber) {
  EXPECT_EQ(npu::vision::label_of({"a", ""}, 0), "a");
  EXPECT_EQ(npu::vision::label_of({"a", ""}, 1), "class 1");
  EXPECT_EQ(npu::vision::label_of({"a", ""}, 2), "class 2");
}

TEST_F(Labels, MissingFileIsNamed) {
  expect_error(npu::ErrorCode::kNotFound, "none.txt",
               [&] { npu::vision::read_labels_file(directory_.path() / "none.txt"); });
}

TEST_F(Labels, FromADeviceAreRefused) {
  EXPECT_THROW(npu::vision::read_labels_file("/dev/zero"), npu::Error);
}

TEST_F(Labels, HaveALimitOfSize) {
  const auto path = write("labels.txt", "cat\n");
  std::filesystem::resize_file(path, std::uintmax_t{1} << 40);
  EXPECT_THROW(npu::vision::read_labels_file(path), npu::Error);
}

TEST_F(Labels, EmptyFileIsRefused) {
  const std::string path = write("labels.txt", "\n\n");
  EXPECT_THROW(npu::vision::read_labels_file(path), npu::Error);
}

TEST_F(Labels, BeginAfterAByteOrderMark) {
  const std::string path = write("labels.txt",
                                 "\xEF\xBB\xBF"
                                 "cat\r\ndog\r\n");
  EXPECT_EQ(npu::vision::read_labels_file(path), (std::vector<std::string>{"cat", "dog"}));
  EXPECT_THROW(npu::vision::read_labels_file(write("labels.txt", "\xEF\xBB\xBF\n")), npu::Error);
}

TEST_F(Labels, BinaryFileIsRefusedByLine) {
  const std::string path = write("labels.txt", "cat\n\xff\xfe\n");
  EXPECT_TRUE(has(thrown_by([&] { npu::vision::read_labels_file(path); }), "line 2"));
}

}  // namespace
