// npuvision's side of track_cost.py: tracks the boxes of a clip, and prints the thread's CPU time
// in ms for each frame.
#include <CLI/CLI.hpp>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <vector>

#include <npuvision/tracker.hpp>

#include "cpu_time.hpp"

namespace {

using Json = nlohmann::json;
using npu::vision::Object;

std::vector<Object> objects_of(const Json& frame) {
  std::vector<Object> objects;
  for (const Json& one : frame.at("found")) {
    const Json& box = one.at("box");
    Object object;
    object.left = box.at(0);
    object.top = box.at(1);
    object.right = object.left + box.at(2).get<double>();
    object.bottom = object.top + box.at(3).get<double>();
    object.confidence = one.at("confidence");
    objects.push_back(object);
  }
  return objects;
}

Json measure(const Json& clip) {
  const double rate = clip.at("rate");
  npu::vision::Tracker tracker;
  Json line{{"times", Json::array()}};
  for (std::size_t i = 0; i < clip.at("frames").size(); ++i) {
    const std::vector<Object> objects = objects_of(clip.at("frames").at(i));
    const double begin = bench::cpu_ms();
    tracker.update(static_cast<double>(i) / rate, objects, {clip.at("width"), clip.at("height")});
    line["times"].push_back(bench::cpu_ms() - begin);
  }
  line["tracks"] = tracker.num_present();
  return line;
}

}  // namespace

int main(int argc, char** argv) {
  std::string file;
  CLI::App app("Tracks the boxes of a clip");
  app.add_option("clip", file)->required();
  CLI11_PARSE(app, argc, argv);
  try {
    std::ifstream stream(file);
    std::cout << measure(Json::parse(stream)) << '\n';
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
  return 0;
}
