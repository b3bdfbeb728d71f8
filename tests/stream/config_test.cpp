#include "config/config.hpp"

#include <gtest/gtest.h>

#include <random>

#include "config/edit.hpp"
#include "config/keys.hpp"

namespace npustream {
namespace {

const std::string kFile = R"(# the yard
models:
  m: {model: m.xml}   # the only one
defaults: {model: m}
streams:
  # the door
  - id: door
    source: {file: door.mp4, loop: true}   # a clip
    lines:
      - name: gate
        points: [[0, 0.5], [1, 0.5]]
    interval: 2

  # the gate
  - id: gate
    source: {rtsp: "rtsp://camera/1"}
)";

std::string problem_of(const std::string& yaml) {
  try {
    parse_config(yaml, "c.yaml");
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "";
}

std::string with(const std::string& stream_keys) {
  return "models: {m: {model: m.xml}}\nstreams:\n  - id: a\n    model: m\n    source: {file: x}\n  "
         "  " +
         stream_keys + "\n";
}

TEST(Config, GivesStreamsTheDefaults) {
  const Config config = parse_config(kFile, "c.yaml");
  ASSERT_EQ(config.streams.size(), 2U);
  EXPECT_EQ(config.streams[1].id, "gate");
  EXPECT_EQ(config.streams[1].json["model"], "m");
  EXPECT_EQ(config.server.address, "127.0.0.1");
}

struct Row {
  const char* name;
  std::string yaml, problem;
};

class Mistake : public testing::TestWithParam<Row> {};

TEST_P(Mistake, IsToldWithItsPlace) {
  EXPECT_EQ(problem_of(GetParam().yaml), GetParam().problem);
}

INSTANTIATE_TEST_SUITE_P(
    All, Mistake,
    testing::Values(Row{"NoYaml", "models:\n  m: {model: x}\n bad: [\n",
                        "c.yaml:3:2: is not YAML: end of map not found"},
                    Row{"SeveralDocuments", "models: {m: {model: x}}\n---\nstreams: []\n",
                        "c.yaml:3:1: must be one document: nothing may stand behind ---"},
                    Row{"UnknownKey", with("intervall: 2"),
                        "c.yaml:6:5: streams[0].intervall is not known; did you mean interval?"},
                    Row{"TwiceTheKey", with("interval: 2\n    interval: 3"),
                        "c.yaml:7:5: streams[0].interval is there twice"},
                    Row{"MergeKey",
                        "x: &x {interval: 2}\nmodels: {m: {model: m.xml}}\nstreams:\n  - {<<: *x, "
                        "id: a}\n",
                        "c.yaml:4:6: streams[0].<< is a merge key of YAML 1.1, which this file "
                        "cannot have: put what streams share under defaults"},
                    Row{"OutOfRange", with("interval: 0"),
                        "c.yaml:6:5: streams[0].interval must be from 1 to 1000, and is 0"},
                    Row{"NoNumber", with("priority: high"),
                        "c.yaml:6:5: streams[0].priority must be a whole number from 0 to "
                        "4294967295, and is the text \"high\""},
                    Row{"WrongChoice", with("drop: bsuy"),
                        "c.yaml:6:5: streams[0].drop must be one of auto, none, late, busy, and is "
                        "the text \"bsuy\"; did you mean busy?"},
                    Row{"UnknownModel",
                        "models: {people: {model: m.xml}}\nstreams:\n  - {id: a, source: {file: "
                        "x}, model: peple}",
                        "c.yaml:3:32: streams[0].model the text \"peple\" is not the name of a "
                        "model under models; did you mean people?"},
                    Row{"OutsideTheFrame", with("lines: [{name: l, points: [[0, 0], [2, 1]]}]"),
                        "c.yaml:6:40: streams[0].lines[0].points[1] must be two numbers, [x, y], "
                        "from 0 to 1 of the frame's width and height"},
                    Row{"TwoSources",
                        "models: {m: {model: m.xml}}\nstreams:\n  - id: a\n    model: m\n    "
                        "source:\n      file: x\n      rtsp: rtsp://y",
                        "c.yaml:7:7: streams[0].source.rtsp is too much beside file: a source is "
                        "one of file, rtsp, v4l2 and launch"},
                    Row{"SameId",
                        "models: {m: {model: m.xml}}\ndefaults: {model: m}\nstreams:\n- {id: a, "
                        "source: {file: x}}\n- {id: a, source: {file: x}}",
                        "c.yaml:5:4: streams[1].id the text \"a\" is the id of another stream"}),
    [](const auto& row) { return row.param.name; });

TEST(Config, TakesNumbersAsTextsWhereTextsBelong) {
  const Config config = parse_config(
      "models: {m: {model: 012}}\nstreams: [{id: 007, model: m, source: {file: 1}}]", "c.yaml");
  EXPECT_EQ(config.streams[0].id, "007");
}

TEST(Config, SchemaHasEveryKey) {
  const Json schema = config_schema();
  for (const Key& key : keys_of(Scope::kStream)) {
    EXPECT_TRUE(schema["$defs"]["stream"]["properties"].contains(key.name)) << key.name;
  }
  EXPECT_EQ(schema["$defs"]["stream"]["additionalProperties"], false);
}

TEST(Edit, ChangesOneKeyAndKeepsAllElse) {
  const std::string changed = yaml_with_changed(kFile, "c.yaml", 0, {{"interval", 3}});
  std::string expected = kFile;
  expected.replace(expected.find("interval: 2"), 11, "interval: 3");
  EXPECT_EQ(changed, expected);
}

TEST(Edit, AddsAndTakesAwayKeys) {
  const Json lines = Json::parse(R"([{"name": "far \"one\"", "points": [[0, 0], [1, 1]]}])");
  const std::string changed = yaml_with_changed(
      kFile, "c.yaml", 0, {{"lines", lines}, {"interval", nullptr}, {"paused", true}});
  const Config config = parse_config(changed, "c.yaml");
  EXPECT_EQ(config.streams[0].json["lines"], lines);
  EXPECT_FALSE(config.streams[0].json.contains("interval"));
  for (const char* comment :
       {"# the yard", "# the only one", "# the door", "# a clip", "# the gate"}) {
    EXPECT_NE(changed.find(comment), std::string::npos) << comment << "\n" << changed;
  }
}

TEST(Edit, AddsAndRemovesStreams) {
  const Json stream = {
      {"id", "third"}, {"source", {{"file", "a b.mp4"}}}, {"labels", {"one", "two"}}};
  const std::string added = yaml_with_added(kFile, "c.yaml", stream);
  EXPECT_EQ(added.substr(0, kFile.size()), kFile);
  EXPECT_EQ(parse_config(added, "c.yaml").document["streams"][2], stream);
  EXPECT_EQ(yaml_with_removed(added, "c.yaml", 2), kFile);
  const Config left = parse_config(yaml_with_removed(kFile, "c.yaml", 0), "c.yaml");
  ASSERT_EQ(left.streams.size(), 1U);
  EXPECT_EQ(left.streams[0].id, "gate");
}

std::string edited(const std::string& streams, const Json& changes) {
  return yaml_with_changed(
      "models: {m: {model: m.xml}}\ndefaults: {model: m}\nstreams:\n" + streams, "c.yaml", 0,
      changes);
}

TEST(Edit, KeepsTheCommentBehindAValue) {
  const std::string streams =
      "  - id: a\n    source: {file: 'x #1'}\n    interval: 2  # half of them\n";
  EXPECT_NE(edited(streams, {{"interval", 5}}).find("    interval: 5  # half of them\n"),
            std::string::npos);
  EXPECT_EQ(edited(streams, {{"source", {{"file", "y"}}}}).find("#1"), std::string::npos);
}

TEST(Edit, KeepsTheCommentOfAnItemInBraces) {
  const std::string changed =
      edited("  - {id: a, source: {file: x}}  # the door\n", {{"interval", 5}});
  EXPECT_NE(changed.find("# the door"), std::string::npos) << changed;
  EXPECT_EQ(parse_config(changed, "c.yaml").streams[0].json["interval"], 5);
}

TEST(Edit, RefusesWhereCommentsWouldBeLost) {
  for (const char* streams :
       {"  - id: a\n    source: &src {file: x}  # the door\n  - {id: b, source: *src}\n",
        "  - {id: a,  # the door\n     source: {file: x}}\n"}) {
    EXPECT_THROW(edited(streams, {{"source", {{"file", "y"}}}}), std::runtime_error) << streams;
  }
}

TEST(Config, TokenFileCountsFromTheFilesFolder) {
  EXPECT_EQ(parse_config("server: {token-file: token}", "/f/c.yaml").server.token_file, "/f/token");
  EXPECT_EQ(parse_config("server: {token-file: /token}", "/f/c.yaml").server.token_file, "/token");
}

TEST(Edit, ChangesStreamsInAnyForm) {
  for (const char* yaml :
       {"{models: {m: {model: m.xml}}, streams: [{id: a, model: m, source: {file: x}}]}",
        "models: {m: {model: m.xml}}\nstreams: [{id: a, model: m, source: {file: x}}]\n",
        "models: {m: {model: m.xml}}\nstreams:\n- {id: a, model: m, source: {file: x}}\n"}) {
    try {
      const std::string changed = yaml_with_changed(yaml, "c.yaml", 0, {{"interval", 5}});
      EXPECT_EQ(parse_config(changed, "c.yaml").streams[0].json["interval"], 5) << changed;
    } catch (const std::runtime_error& error) {
      EXPECT_NE(std::string(error.what()).find("cannot be edited here"), std::string::npos)
          << error.what();
    }
  }
}

/// Files with bytes changed, cut out and doubled: each is read or refused with a problem, and what
/// was read can be edited.
TEST(Config, SurvivesMutatedFiles) {
  std::mt19937 random(37);
  const std::string alphabet = "{}[]:,-&*!|>'\"#%@ \n\t~0aé";
  int read = 0, refused = 0;
  for (int round = 0; round < 3000; ++round) {
    std::string yaml = kFile;
    for (unsigned edits = 1 + random() % 4; edits > 0; --edits) {
      const std::size_t at = random() % yaml.size(),
                        size = std::min<std::size_t>(random() % 12, yaml.size() - at);
      switch (random() % 3) {
        case 0:
          yaml[at] = alphabet[random() % alphabet.size()];
          break;
        case 1:
          yaml.erase(at, std::min(size, yaml.size() - 1));
          break;
        default:
          yaml.insert(random() % yaml.size(), yaml.substr(at, size));
      }
    }
    try {
      const Config config = parse_config(yaml, "c.yaml");
      ++read;
      if (config.streams.empty()) continue;
      const std::string changed = yaml_with_changed(yaml, "c.yaml", 0, {{"priority", 7}});
      EXPECT_EQ(parse_config(changed, "c.yaml").streams[0].json["priority"], 7) << yaml;
    } catch (const ConfigError& error) {
      ++refused;
      EXPECT_FALSE(error.problems().empty());
    } catch (const std::runtime_error& error) {
      EXPECT_NE(std::string(error.what()).find("cannot be edited here"), std::string::npos)
          << error.what();
    }
  }
  EXPECT_GT(read, 100);
  EXPECT_GT(refused, 100);
}

TEST(Config, RefusesWhatWouldNeverEnd) {
  std::string bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 12; ++i) {
    const std::string before = "*a" + std::to_string(i - 1);
    bomb += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [" + before + ", " + before +
            ", " + before + ", " + before + "]\n";
  }
  EXPECT_NE(problem_of(bomb), "");
  EXPECT_NE(problem_of(std::string(5000, '[')), "");
  EXPECT_NE(problem_of("a: \xff"), "");
}

}  // namespace
}  // namespace npustream
