// The same for the plugin.
#include <gst/gst.h>
#include <gst/video/video.h>

#include "standard.hpp"
