#include "host_notes.hpp"

#include "ir/graph/xml.hpp"

namespace npu::ir {
namespace {

using Notes = std::map<std::string, std::string>;

std::string number(double value) {
  return shortest(static_cast<float>(value));
}

void note(const Tail::Nms& nms, Notes* notes) {
  (*notes)["host_postprocess"] = nms.is_best_class ? "nms-best-class" : "nms";
  (*notes)["host_iou_threshold"] = number(nms.iou);
  (*notes)["host_score_threshold"] = number(nms.score);
  if (!nms.is_best_class) return;
  (*notes)["host_box_scale"] = number(nms.scale);
  (*notes)["host_class_offset"] = number(nms.offset);
}

void note(const Tail::ClassNms& nms, Notes* notes) {
  (*notes)["host_postprocess"] = nms.matrix ? "matrix-nms" : "multiclass-nms";
  (*notes)["host_score_threshold"] = number(nms.score);
  if (nms.margin != 0) {
    (*notes)["host_box_margin"] = number(nms.margin);
  }
  if (nms.candidates) {
    (*notes)["host_class_candidates"] = std::to_string(*nms.candidates);
  }
  if (nms.background) {
    (*notes)["host_background"] = std::to_string(*nms.background);
  }
  if (!nms.matrix) {
    (*notes)["host_iou_threshold"] = number(nms.iou);
    return;
  }
  (*notes)["host_lowest_score"] = number(nms.matrix->lowest);
  if (nms.matrix->sigma) {
    (*notes)["host_gaussian_sigma"] = number(*nms.matrix->sigma);
  }
}

}  // namespace

Notes host_notes(const Tail& tail) {
  Notes notes{{"host_postprocess", "topk"},
              {"host_classes", std::to_string(tail.classes())},
              {"host_detections", std::to_string(tail.detections)}};
  if (tail.nms) {
    note(*tail.nms, &notes);
  } else if (tail.class_nms) {
    note(*tail.class_nms, &notes);
  }
  return notes;
}

std::string name_of(const Tail& tail) {
  if (tail.class_nms) return tail.class_nms->matrix ? "MatrixNms" : "MulticlassNms";
  return tail.nms ? "NonMaxSuppression" : "TopK and Gather";
}

}  // namespace npu::ir
