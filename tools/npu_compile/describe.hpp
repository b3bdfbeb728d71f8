#pragma once

#include <ostream>
#include <vector>

#include <npucore/frame.hpp>

/// Prints a blob's inputs and outputs, for people.
void print_ports(std::ostream& out, const char* kind, const std::vector<npu::Port>& ports);
void print_frame(std::ostream& out, const npu::FrameInput& input);
