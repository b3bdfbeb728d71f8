#include "copy_cause.hpp"

namespace gstnpu {

const char* to_string(CopyCause cause) {
  switch (cause) {
    case CopyCause::kNone:
      return "";
    case CopyCause::kOrdinaryMemory:
      return "ordinary-memory";
    case CopyCause::kOtherDevice:
      return "other-device";
    case CopyCause::kImportRefused:
      return "import-refused";
    case CopyCause::kSplitPlane:
      return "split-plane";
    case CopyCause::kShortMemory:
      return "short-memory";
    case CopyCause::kStride:
      return "stride";
    case CopyCause::kBlobLayout:
      return "blob-layout";
    case CopyCause::kLostDevice:
      return "lost-device";
    case CopyCause::kImportWindow:
      return "import-window";
    case CopyCause::kRegion:
      return "region";
    case CopyCause::kManyCrops:
      return "many-crops";
    case CopyCause::kManySizes:
      return "many-sizes";
  }
  return "";
}

const char* explain(CopyCause cause) {
  switch (cause) {
    case CopyCause::kNone:
      return "";
    case CopyCause::kOrdinaryMemory:
      return "upstream sends frames in ordinary memory and did not use the NPU memory that it was "
             "offered. Decoders, and videoconvertscale when it converts, write into that memory if "
             "they are directly in front of this element, or with only queue, identity or "
             "capsfilter in between; a tee blocks the offer, so put it behind this element. "
             "DMA-BUFs are read in place";
    case CopyCause::kOtherDevice:
      return "the frames are in memory of another NPU device; use the same device in both elements";
    case CopyCause::kImportRefused:
      return "the driver refused to import the DMA-BUF";
    case CopyCause::kSplitPlane:
      return "a plane of the frame is spread over several memories; let the producer put each "
             "plane into one memory";
    case CopyCause::kShortMemory:
      return "the frame's memory ends before the padding of its last row, which the NPU would "
             "read; let the producer allocate whole rows";
    case CopyCause::kStride:
      return "the frame's rows are stored upside down or overlap; let the producer store them in "
             "order";
    case CopyCause::kBlobLayout:
      return "the frame's strides are not those that the blob was compiled for; compile it with "
             "them (npu-compile --frame), or use npuinfer";
    case CopyCause::kLostDevice:
      return "the frame is in memory from before the NPU was lost, which the NPU can no longer "
             "reach; upstream gets new memory when the pipeline is restarted";
    case CopyCause::kImportWindow:
      return "the NPU's address range for imported buffers has no room for the frame, and "
             "everything in it is in use; use fewer or smaller buffers upstream, or a lower nireq";
    case CopyCause::kRegion:
      return "inference-region=roi-list crops and scales each object on the CPU";
    case CopyCause::kManyCrops:
      return "the stream's crops are of many sizes, and each would need a graph of its own; those "
             "of further sizes are scaled on the CPU, which one graph serves. Let upstream crop to "
             "few sizes, or scale to one (videocrop ! videoscale)";
    case CopyCause::kManySizes:
      return "the frames are of many sizes, and each would need a graph of its own; those of "
             "further sizes are scaled on the CPU, which one graph serves. Scale them to one size "
             "in front (videoconvertscale ! video/x-raw,width=1280,height=720), or set cache-dir "
             "and zero-copy=require: each size is compiled once then";
  }
  return "";
}

}  // namespace gstnpu
