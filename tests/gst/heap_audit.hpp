#pragma once

/// Of a library that is preloaded, or not.
extern "C" void audit_heap(bool begins);
