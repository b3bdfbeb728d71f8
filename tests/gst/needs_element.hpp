// Elements that a build option leaves out.
#pragma once

#include <gst/gst.h>
#include <gtest/gtest.h>

/// Ends the test, as skipped, where the element is not built.
#define NEEDS_ELEMENT(name)                                                   \
  do {                                                                        \
    GstElementFactory* needed_factory = gst_element_factory_find(name);       \
    if (needed_factory == nullptr) GTEST_SKIP() << (name) << " is not built"; \
    gst_object_unref(needed_factory);                                         \
  } while (false)
