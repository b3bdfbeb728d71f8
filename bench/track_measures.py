"""The quality of identities: HOTA, MOTA, identity switches and IDF1.

A frame is a pair (truth, told), each a list of (identity, [left, top, width, height]).
"""
import numpy as np

ALPHAS = np.arange(0.05, 0.99, 0.05)
SAME = 0.5  # overlap of a box and an object that are the same, for MOTA and IDF1


def overlaps(first, second):
    """Intersection over union of each with each."""
    a, b = (np.array(boxes, dtype=float).reshape(-1, 4) for boxes in (first, second))
    low = np.maximum(a[:, None, :2], b[None, :, :2])
    high = np.minimum(a[:, None, :2] + a[:, None, 2:], b[None, :, :2] + b[None, :, 2:])
    shared = np.prod(np.maximum(high - low, 0), axis=2)
    areas = np.prod(a[:, 2:], axis=1)[:, None] + np.prod(b[:, 2:], axis=1)[None, :]
    return shared / np.maximum(areas - shared, 1e-12)


def best_pairs(worth):
    """Rows and columns, each once, with the largest sum of worth (Hungarian method; J. Munkres, 1957). Leaves out pairs without worth."""
    worth = np.asarray(worth, dtype=float)
    if worth.size == 0:
        return []
    is_turned = worth.shape[0] > worth.shape[1]
    cost = -(worth.T if is_turned else worth)
    rows, columns = cost.shape
    row_price, column_price = np.zeros(rows + 1), np.zeros(columns + 1)
    row_of = np.zeros(columns + 1, dtype=int)  # rows and columns count from 1
    for row in range(1, rows + 1):
        row_of[0] = row
        slack, used, way, at = np.full(columns + 1, np.inf), np.zeros(columns + 1, dtype=bool), np.zeros(columns + 1, dtype=int), 0
        while row_of[at] != 0:
            used[at] = True
            reduced = np.concatenate(([np.inf], cost[row_of[at] - 1] - row_price[row_of[at]] - column_price[1:]))
            is_less = ~used & (reduced < slack)
            slack[is_less], way[is_less] = reduced[is_less], at
            following = int(np.argmin(np.where(used, np.inf, slack)))
            least = slack[following]
            row_price[row_of[used]] += least
            column_price[used] -= least
            slack[~used] -= least
            at = following
        while at != 0:
            row_of[at] = row_of[way[at]]
            at = way[at]
    pairs = [(int(row_of[column]) - 1, column - 1) for column in range(1, columns + 1) if row_of[column] != 0]
    pairs = [(column, row) for row, column in pairs] if is_turned else pairs
    return sorted((i, j) for i, j in pairs if worth[i, j] > 0)


class Numbered:
    """The frames with identities as numbers from 0, and overlaps."""

    def __init__(self, frames):
        self.truths = self._numbers(truth for truth, _ in frames)
        self.tolds = self._numbers(told for _, told in frames)
        self.frames = [(np.array([self.truths[name] for name, _ in truth], dtype=int), np.array([self.tolds[name] for name, _ in told], dtype=int),
                        overlaps([box for _, box in truth], [box for _, box in told])) for truth, told in frames]
        self.count_truth = np.zeros(len(self.truths))
        self.count_told = np.zeros(len(self.tolds))
        for truth, told, _ in self.frames:
            self.count_truth[truth] += 1
            self.count_told[told] += 1

    @staticmethod
    def _numbers(frames):
        return {name: number for number, name in enumerate(dict.fromkeys(name for frame in frames for name, _ in frame))}


def hota(numbered):
    """Higher order tracking accuracy (Luiten et al., IJCV 2021): the mean over overlaps from 0.05 to 0.95 of the geometric mean of how well
    objects are found and how well those that are found keep together."""
    shape = (len(numbered.truths), len(numbered.tolds))
    together = np.zeros(shape)  # how often a true and a told identity are in the same place, over the clip
    for truth, told, shared in numbered.frames:
        sums = shared.sum(0)[None, :] + shared.sum(1)[:, None] - shared
        together[np.ix_(truth, told)] += np.divide(shared, sums, out=np.zeros_like(shared), where=sums > 0)
    both = numbered.count_truth[:, None] + numbered.count_told[None, :] - together
    alignment = np.divide(together, both, out=np.zeros(shape), where=both > 0)
    matched = np.zeros((len(ALPHAS), *shape))
    for truth, told, shared in numbered.frames:
        for i, j in best_pairs(alignment[np.ix_(truth, told)] * shared):
            matched[shared[i, j] >= ALPHAS - 1e-9, truth[i], told[j]] += 1
    scores = []
    for matches in matched:
        true = matches.sum()
        union = numbered.count_truth[:, None] + numbered.count_told[None, :] - matches
        detection = true / max(numbered.count_truth.sum() + numbered.count_told.sum() - true, 1)
        association = (matches * matches / np.maximum(union, 1)).sum() / max(true, 1)
        scores.append(np.sqrt(detection * association))
    return float(np.mean(scores))


def clear(numbered):
    """MOTA and identity switches (Bernardin and Stiefelhagen, 2008). A pair matched in the last frame stays matched if it can."""
    last, before, true, switches = {}, {}, 0, 0
    for truth, told, shared in numbered.frames:
        stays = np.array([[before.get(i) == j for j in told] for i in truth]).reshape(shared.shape)
        pairs = best_pairs(np.where(shared >= SAME, shared + 1000 * stays, 0))
        before = {int(truth[i]): int(told[j]) for i, j in pairs}
        switches += sum(last.get(one, other) != other for one, other in before.items())
        last.update(before)
        true += len(pairs)
    wanted, given = numbered.count_truth.sum(), numbered.count_told.sum()
    return {"mota": float(1 - (wanted - true + given - true + switches) / max(wanted, 1)), "switches": switches}


def idf1(numbered):
    """Gives each true identity at most one told identity for the whole clip: the share of boxes that are right then (Ristani et al., 2016)."""
    shared_frames = np.zeros((len(numbered.truths), len(numbered.tolds)))
    for truth, told, shared in numbered.frames:
        shared_frames[np.ix_(truth, told)] += shared >= SAME
    right = sum(shared_frames[i, j] for i, j in best_pairs(shared_frames))
    return float(2 * right / max(numbered.count_truth.sum() + numbered.count_told.sum(), 1))


def measure(frames):
    numbered = Numbered(frames)
    return {"hota": hota(numbered), **clear(numbered), "idf1": idf1(numbered)}
