// The same for npu-stream.
#include <gst/gst.h>
#include <gst/video/video.h>

#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>

#include "standard.hpp"
