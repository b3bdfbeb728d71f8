#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>
#include <vector>

struct Arguments {
  std::string model;  ///< .xml: an IR; anything else: a blob
  std::string weights;
  std::string device = "auto";
  std::string hint = "throughput";
  std::string api = "async";
  std::string memory = "device";
  std::size_t requests = 0;
  double seconds = 0;
  std::uint64_t iterations = 0;
  std::vector<std::string> inputs;
  unsigned seed = 1;
  std::vector<std::string> properties, reshape;
  bool profile = false;
  bool estimate = false;
  bool json = false;

  bool is_ir() const;
};

void add_options(CLI::App& app, Arguments& arguments);
