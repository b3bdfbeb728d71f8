#pragma once

/// Defined by a library that may be preloaded.
extern "C" void audit_heap(bool begins);
