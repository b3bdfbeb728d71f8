// The same for npu-stream.
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>

#include "gst.hpp"
