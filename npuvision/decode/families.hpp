// The contracts of all families, each in the file of its decoder.
#pragma once

#include "contract.hpp"

namespace npu::vision {

extern const Contract kSimccContract;
extern const Contract kAnchorsContract;

}  // namespace npu::vision
