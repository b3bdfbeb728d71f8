// How a frame's pixels reach the NPU, and why some are copied.
#pragma once

namespace gstnpu {

enum class InputPath {
  kOffered,   ///< upstream wrote into memory of our allocator
  kImported,  ///< a DMA-BUF of someone else, read in place
  kCopied,
};

/// Why a frame could not be read in place.
enum class CopyCause {
  kNone,
  kOrdinaryMemory,  ///< neither a DMA-BUF nor memory of the NPU
  kOtherDevice,     ///< memory of another NPU context
  kImportRefused,
  kSplitPlane,    ///< a plane spans several memories
  kShortMemory,   ///< the memory ends before the last row's padding does
  kStride,        ///< a stride that is negative or shorter than a row
  kBlobLayout,    ///< the precompiled blob wants another layout
  kLostDevice,    ///< memory of the NPU's context before it was lost
  kImportWindow,  ///< the device has no room for another import
  kRegion,        ///< an object of the frame: cropped and scaled by the CPU
  kManyCrops,     ///< a crop of yet another size: likewise
  kManySizes,     ///< a frame of yet another size: scaled by the CPU
};

/// The cause's name in `stats`: "ordinary-memory".
const char* to_string(CopyCause cause);

/// One sentence for the user: why, and what avoids it.
const char* explain(CopyCause cause);

}  // namespace gstnpu
