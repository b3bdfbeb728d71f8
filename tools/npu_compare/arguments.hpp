#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "difference.hpp"
#include "model_file.hpp"

/// One of the two sides to compare.
struct Side {
  std::string model;  ///< an IR or a blob
  std::string weights;
  std::string device;
  std::vector<std::string> properties;

  bool is_ir() const { return is_ir_path(model); }
};

struct Arguments {
  Side tested{.device = "auto"}, reference;
  std::vector<std::string> inputs, reshape;
  unsigned seed = 1;
  std::size_t count = 0;  ///< number of frames; 0: as many as the inputs have files, at least one
  Tolerance tolerance;
  bool layers = false;
  std::size_t layers_at_once = 16;
  bool json = false;
};

/// Completes the reference after parsing.
void add_options(CLI::App& app, Arguments& arguments);
