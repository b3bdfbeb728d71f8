#pragma once

#include <string>
#include <vector>

#include <npucore/frame.hpp>

/// A frame layout from "FORMAT:WIDTHxHEIGHT[:stride=N[,N,N]][:rows=N[,N,N]][:crop=LEFT,TOP]". WIDTH
/// and HEIGHT are the visible size. A single stride or number of rows is the first plane's, and the
/// others follow from it; else there must be one for each plane. Throws npu::Error that says what
/// is wrong.
npu::FrameLayout parse_frame_spec(const std::string& text);

/// GStreamer's assumption for a stream without colorimetry: BT.709 above 576 lines, else BT.601;
/// full range for grey, else limited.
npu::ColorMatrix usual_matrix(const npu::FrameLayout& frame);
npu::ColorRange usual_range(const npu::FrameLayout& frame);

/// "1,2.5,3" as numbers; `option` is for the message.
std::vector<float> parse_numbers(const std::string& option, const std::string& text);
