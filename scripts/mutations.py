"""What scripts/mutate.py breaks: one line of the product each, and the tests that are to notice.

`find` is C++ in any wrapping and must be in one place of the files that `files` matches; $name in it is any text within a
statement, and may be used in `put`. A test may be narrowed by ":" and a filter of its cases.
"""
from typing import NamedTuple


class Mutation(NamedTuple):
    name: str
    meaning: str
    files: str
    find: str
    put: str
    tests: list


LIBRARY, VISION, PLUGIN, DRIVER, TOOLS = "npucore/*", "npuvision/*", "gst/*", "softnpu/*", "tools/*"
CALLS = "npucore-system-calls"
CACHE = "npucore-cache:*AfterAnUpdate*"
ENTRY = "npucore-cache-entry"

MUTATIONS = [
    # ---- Keys and versions
    Mutation("key-driver", "the cache key lacks the driver's version", LIBRARY,
             "device.driver_version, \" extension \"", "\" extension \"", [CACHE]),
    Mutation("key-extension", "the cache key lacks the extension's version", LIBRARY,
             "version(device.graph_extension)", "\"\"", [CACHE]),
    Mutation("key-compiler", "the cache key lacks the compiler's version", LIBRARY,
             "version(device.compiler)", "\"\"", [CACHE]),
    Mutation("key-elf", "the cache key lacks the ELF version", LIBRARY, "version(device.blob_elf)", "\"\"", [CACHE]),
    Mutation("key-runtime", "the cache key lacks the runtime's version", LIBRARY,
             "version(device.blob_runtime)", "\"\"", [CACHE]),
    Mutation("entry-of-another-key", "a cache entry of another key with the same hash is taken", LIBRARY,
             "if (entry->key != key) return std::nullopt;", "", [ENTRY]),
    Mutation("description-checksum", "a blob's description is not compared with its checksum", LIBRARY,
             "fnv1a(xml) != hash", "fnv1a(xml) == 0", ["ir-container"]),

    # ---- Ends of detectors that the host takes over
    Mutation("soft-is-hard", "soft NMS is left to a host that only drops boxes", LIBRARY, "if (is_soft || !most", "if ((is_soft && !is_soft) || !most",
             ["ir-repair"]),
    Mutation("inputs-shown", "an input becomes the output where an end is cut off", LIBRARY,
             "&& layer_type(document.layer(part.root.layer)) != \"Parameter\"", "", ["ir-repair"]),
    Mutation("columns-in-any-order", "columns of one tensor are taken to be in the host's order", LIBRARY,
             "|| part.first != next) return false", ") return false", ["ir-repair"]),
    Mutation("names-are-cut-off", "an output loses its names with its end", LIBRARY,
             "move_names(model.document, end.output, joined);", "static_cast<void>(move_names);", ["ir-repair"]),

    # ---- Files that last
    Mutation("fsync-file", "a file has its name before it is on the disk", LIBRARY,
             "file.sync(); file.move_to(name);", "file.move_to(name);", [CALLS]),
    Mutation("fsync-folder", "a file's name is not on the disk when the call returns", LIBRARY,
             "static_cast<void>(::fsync(fd()));", "", [CALLS]),
    Mutation("cache-for-all", "other users read the cache", LIBRARY,
             "access == FileAccess::kOwner ? 0600 : 0666", "access == FileAccess::kOwner ? 0644 : 0666", [ENTRY]),

    # ---- Files of others
    Mutation("folder-of-others", "a cache folder where others write is trusted", LIBRARY,
             "(status.st_mode & (S_IWGRP | S_IWOTH)) != 0", "false", [ENTRY]),
    Mutation("cache-through-a-link", "a cache folder may be a link", LIBRARY, "S_ISLNK(status.st_mode)) { throw",
             "false) { throw", [ENTRY]),
    Mutation("fifo-waits", "a FIFO is waited for", LIBRARY, "O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY",
             "O_RDONLY | O_CLOEXEC | O_NOCTTY", ["npucore-files:OpenInput*"]),
    Mutation("labels-anywhere", "a .modelinfo names any file", LIBRARY, "RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS", "0",
             ["vision-model_info"]),
    Mutation("card-from-anywhere", "a link beside a model describes it with any file", VISION,
             "return npu::read_input(name, most_bytes, folder);", "return npu::read_input(folder / name, most_bytes);",
             ["vision-read_model_card"]),
    Mutation("card-without-end", "a description may be nested without end", VISION, "open_.size() == TreeLimits::kDepth", "false",
             ["vision-card_json", "vision-read_model_card"]),
    Mutation("card-of-two", "a mean of one file goes with the scale of another", VISION,
             "if (is_said(stronger.mean) || is_said(stronger.scale))", "if (is_said(stronger.mean))", ["vision-card_json"]),
    Mutation("card-without-nms", "an export with nms=True is taken for a raw one", VISION, "(nms && nms->flag())", "false",
             ["vision-read_model_card"]),
    Mutation("card-usual", "the usual pre-processing is mixed with what the IR says of its own", VISION,
             "if (!says_preprocess(card))", "if (true)", ["vision-read_model_card"]),
    Mutation("change-not-seen", "a mapped file that was changed is read", LIBRARY, "if (!file_) return;", "return;",
             ["npucore-files:*MappedFile*"]),
    Mutation("device-replaced", "an output replaces a device node", LIBRARY, "if (!old || S_ISREG(old->st_mode)) return;",
             "if (old || !old) return;", ["npucore-files:AtomicFile*"]),

    # ---- Locks
    Mutation("cache-not-looked-into-again", "whoever waited for the cache compiles again", LIBRARY,
             "std::nullopt : cache.lock(key, cancelled()); if (load_from_cache(cache, key)) return;",
             "std::nullopt : cache.lock(key, cancelled());", [CALLS]),
    Mutation("lock-of-a-removed-file", "whoever waited has the lock of a file that is gone", LIBRARY,
             "if (is_still_there(fd.get(), folder, name)) return",
             "if (is_still_there(fd.get(), folder, name) || fd) return", [CALLS]),

    # ---- Descriptors
    Mutation("inherited-mapped-file", "children inherit model files", LIBRARY,
             "O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY", "O_RDONLY | O_NONBLOCK | O_NOCTTY", [CALLS]),
    Mutation("inherited-lock", "children inherit the cache's lock", LIBRARY,
             "O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW", "O_RDWR | O_CREAT | O_NOFOLLOW", [CALLS]),
    Mutation("inherited-import", "children inherit DMA-BUFs", LIBRARY, "copy(::fcntl(fd, F_DUPFD_CLOEXEC", "copy(::fcntl(fd, F_DUPFD",
             [CALLS]),
    Mutation("inherited-lines", "children inherit npupublish's file", PLUGIN,
             "O_WRONLY | O_CREAT | O_CLOEXEC |", "O_WRONLY | O_CREAT |", ["gst-element-descriptors"]),

    # ---- Helper processes
    Mutation("helper-outlives-cancel", "a cancel leaves the compiler running", LIBRARY,
             "ends_(cancellation, [this] { process_.kill(); })", "ends_(cancellation, [] {})", ["npucore-helper"]),
    Mutation("progress-after-cancel", "cancel() returns while a progress function runs", LIBRARY,
             "impl_->wait_until_told();", "", ["npucore-compile-job"]),
    Mutation("unsealed-blob", "a blob that the helper could still shorten is mapped", LIBRARY,
             "ContentView ContentView::of_sealed(Content content) {", "ContentView ContentView::of_sealed(Content content) { return ContentView(std::move(content));",
             ["npucore-helper-message"]),

    # ---- Lost devices
    Mutation("loss-not-judged", "a loss that another call than an inference tells keeps the context", LIBRARY,
             "if (code == ErrorCode::kDeviceLost) { lost = true; }", "", ["npucore-recovery"]),
    Mutation("short-waits-blind", "a loop of short waits never sees that the device is lost", LIBRARY,
             "return device.tells_its_loss() ? ZE_RESULT_ERROR_DEVICE_LOST : result;", "return result;", ["npucore-recovery"]),
    Mutation("half-bound", "a submission that is refused leaves its good bindings", LIBRARY,
             "plan_.push_back( {&binding, binding.bound_to(tensor, strided->strides, engine_->session->place)});",
             "binding.set(binding.bound_to(tensor, strided->strides, engine_->session->place)); changed(binding);",
             ["npucore-binding"]),

    # ---- What the device may still touch
    Mutation("destroyed-in-flight", "a request whose callback was taken back goes under its inference", LIBRARY,
             "if (in_flight_) { wait_for_end(ze::kNoTimeout); } } catch", "} catch", ["npucore-lifetime"]),
    Mutation("failed-wait-lets-go", "a wait that failed leaves lists and fence to a running inference", LIBRARY,
             "wait_out(submission);", "", ["npucore-request"]),
    Mutation("limit-waits-on", "a wait with a limit waits for the inference", LIBRARY,
             "while (result == ZE_RESULT_NOT_READY && timeout_ns != 0);", "while (result == ZE_RESULT_NOT_READY);", ["npucore-request"]),
    Mutation("recordings-of-the-dead", "what was recorded for freed memory is used for new memory at its address", LIBRARY,
             "device_->memory_users.forget({static_cast<const std::byte*>(address_), size_bytes_});", "", ["npucore-binding"]),
    Mutation("child-frees", "a forked child ends what is its parent's", LIBRARY,
             "if (native_ && !base::is_forked_child()) {", "if (native_) {", ["npucore-lifetime"]),

    Mutation("arguments-unlocked", "lists recorded at once take each other's arguments", LIBRARY,
             "std::scoped_lock lock(graph_->arguments_mutex());", "", ["npucore-binding"]),

    # ---- Producers of DMA-BUFs
    Mutation("no-wait-for-producers", "an inference reads what its producer still writes", LIBRARY,
             "if (!producers_.empty()) { wait_for_producers(); }", "", [CALLS]),
    Mutation("wrong-producers", "waits for readers where writers count, and the other way round", LIBRARY,
             "use == FenceUse::kRead ? POLLIN : POLLOUT", "use == FenceUse::kRead ? POLLOUT : POLLIN", [CALLS]),

    # ---- The plugin's stream
    Mutation("leak-a-frame", "800 bytes are lost for each frame", PLUGIN,
             "stream_.fifo.frame_done();\n  stream_.errors.note_success();",
             "stream_.fifo.frame_done();\n  static_cast<void>(g_malloc0(800));", ["gst-heap"]),
    Mutation("end-at-the-sink", "an inference ends when the output task gets round to it", PLUGIN,
             "  time_ = request_->time();", "  time_ = request_->time(); time_.done_ns = now_ns();", ["gst-element-live"]),
    Mutation("one-allocation-more", "a frame asks the heap once more", PLUGIN,
             "outputs_.reserve(graph_->output_bytes().size());",
             "outputs_.reserve(graph_->output_bytes().size()); const auto more = std::make_unique<int>(0);", ["gst-allocations"]),
    Mutation("nobody-stands-in", "fences are seen when the sink lets go of the frame before", PLUGIN,
             "is_absent_ = is_absent; call_stand_in_if_needed();", "is_absent_ = false;",
             ["gst-fence_watch", "gst-element-streaming"]),
    Mutation("paused-unseen", "nobody sees the ends of frames that a paused task leaves in the fifo", PLUGIN,
             "gst_pad_pause_task(src_);\n  stream_.watch.set_absent(true);", "gst_pad_pause_task(src_);",
             ["gst-output_task"]),
    Mutation("latency-never-falls", "the answered latency only grows", PLUGIN,
             "seen_ >= changed_at_ + settled && seen_ % kFew == 0", "seen_ < changed_at_ + settled && seen_ % kFew == kFew", ["gst-stats"]),
    Mutation("relink-unheard", "a new link downstream changes nothing", PLUGIN,
             "      shared_.fifo.relinked();", "", ["gst-element-streaming"]),
    Mutation("dropped-uncounted", "dropped frames are not counted", PLUGIN,
             "  shared_.stats.count(reason);", "", ["gst-element-live-too-slow"]),
    Mutation("qos-ignored", "what downstream says of lateness is not heard", PLUGIN,
             "arrival.frame < earliest_) return true;", "arrival.frame < earliest_) return false;", ["gst-drop_policy"]),
    Mutation("sticky-lost", "a flush loses caps and tags", PLUGIN,
             "gst_pad_store_sticky_event(src_, event->get());", "", ["gst-element-streaming"]),
    Mutation("eos-stays", "a stream stays ended in a new segment", PLUGIN,
             "type == GST_EVENT_STREAM_START || type == GST_EVENT_SEGMENT", "type == GST_EVENT_STREAM_START", ["gst-element-streaming"]),
    Mutation("warning-a-frame", "a lost device is told for each frame", PLUGIN,
             "if (losses == 1) {", "if (losses != 1000) {",
             ["gst-lost-device-in-flight"]),
    Mutation("one-frame-more", "one frame more than nireq is in flight", PLUGIN,
             "frames_ < max_frames_", "frames_ <= max_frames_", ["gst-fifo"]),
    Mutation("frames-after-eos", "frames are taken after downstream said EOS", PLUGIN,
             "if (stream_ended_ && !std::holds_alternative<EventRef>(item)) return GST_FLOW_EOS;", "",
             ["gst-fifo"]),
    Mutation("wrong-counter", "imported frames are counted as offered", PLUGIN,
             "path == InputPath::kOffered ? $offered : $imported)",
             "path == InputPath::kOffered ? $imported : $offered)", ["gst-stats"]),
    Mutation("endless-way", "more lines than 64 are on their way to Kafka", "gst/*/kafka_sink.cpp",
             "return run_until(kMostOnTheirWay - 1);", "return run_until(100 * kMostOnTheirWay);", ["gst-kafka_sink"]),
    Mutation("cut-is-lost", "a session is begun anew though its broker has it, and lines come twice", PLUGIN,
             "if (result > 0 || is_ending_ || resumes) return result;",
             "if (result > 0 || is_ending_ || (resumes && result != MQTTCLIENT_FAILURE)) return result;",
             ["publish-mqtt-broker-sessions:*WhereAResumedConnectionBreaks*"]),
    Mutation("given-up-is-kept", "a client that was given up and comes late is taken for the session that was lost", PLUGIN,
             "result == MQTTCLIENT_FAILURE && took >= kAlmostAllConnectTime", "false",
             ["publish-mqtt-broker-sessions:*BehindTheQuestion*"]),
    Mutation("two-receivers", "a client connects before the thread runs that the one before it has started", PLUGIN,
             "if (!starts_thread || first.result != MQTTCLIENT_FAILURE) return first;", "if (starts_thread || !starts_thread) return first;",
             ["publish-mqtt-broker-sessions:*WhereThreadsStartLate*"]),
    Mutation("ends-with-lines-held", "a publisher ends though its sink gets answers one by one", PLUGIN,
             "!(is_ending_ && is_all_out())", "!is_ending_", ["gst-publisher"]),
    Mutation("flush-warns", "a flush is told as eos-time that is over", PLUGIN,
             "active_.eos_time_ms && !publisher_->is_interrupted()", "active_.eos_time_ms", ["publish-end"]),
    Mutation("missing-file-code", "a missing model is told as a failure of the library", PLUGIN,
             "return {GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NOT_FOUND};",
             "return {GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_FAILED};", ["gst-element-errors"]),
    Mutation("past-the-tensor", "a decoder reads behind its tensor's memory", VISION,
             "&& tensor.size_bytes >= end;", "&& end > 0;", ["vision-yolo_random", "vision-random_tensors"]),
    Mutation("past-the-output", "a family's decoder reads behind its output's memory", VISION,
             "return tensor.data != nullptr && tensor.size_bytes >= end;", "return tensor.data != nullptr;", ["vision-yolo_raw"]),
    Mutation("labels-of-before", "a model's labels are those of its first frame", PLUGIN,
             "is(labels, meta->labels) && is(card, meta->card);", "is(card, meta->card);", ["tensordec"]),
    Mutation("overlaps-of-before", "scores decay by the overlaps of the class before", VISION,
             "highest_.assign(best_first.size(), 0);", "highest_.resize(best_first.size());", ["vision-host_end"]),
    Mutation("factors-unchecked", "factors of a score that are no probabilities count", VISION,
             "probability(object) * probability(best.score)", "object * best.score", ["vision-yolo_end_to_end"]),

    # ---- Bounds, strides, alignment
    Mutation("slice-too-long", "a slice reaches past its tensor", LIBRARY,
             "if (offset > size_bytes() || size > size_bytes() - offset)", "if (offset > size_bytes_)", ["npucore-tensor"]),
    Mutation("import-too-long", "a tensor reaches past its DMA-BUF", LIBRARY,
             "if (offset >= all || size > all - offset)", "if (offset >= all)", ["npucore-remote", "npucore-tensor"]),
    Mutation("rows-overlap", "strides may let rows overlap", LIBRARY,
             "stride % element != 0 || stride < extent ||", "stride % element != 0 ||", ["npucore-strides"]),
    Mutation("host-memory-off-page", "host memory is imported from the middle of a page", LIBRARY,
             "reinterpret_cast<std::uintptr_t>(bytes.data()) % base::page_size_bytes() != 0",
             "reinterpret_cast<std::uintptr_t>(bytes.data()) % 4 != 0", ["npucore-binding"]),

    # ---- Colours
    Mutation("matrix-709", "BT.709 frames are shown with the luma of BT.601", LIBRARY,
             "return {.2126, 1 - .2126 - .0722, .0722};", "return {.299, 1 - .299 - .114, .114};",
             ["gst-element-videoconvert"]),
    Mutation("range-limited", "black of limited range is grey", LIBRARY,
             "return {16, 255.0 / 219, 255.0 / 224};", "return {0, 255.0 / 219, 255.0 / 224};",
             ["gst-element-videoconvert"]),

    # ---- Caches and their limits
    Mutation("evicts-the-newest", "the cache drops what was used last", LIBRARY,
             "return is_older(a.used, b.used);", "return is_older(b.used, a.used);", [ENTRY]),
    Mutation("use-not-noted", "the cache does not note what is used", LIBRARY,
             "::utimensat(folder_->fd(), entry_of(key).c_str(), kUsedNow, AT_SYMLINK_NOFOLLOW);",
             "static_cast<void>(kUsedNow);", [ENTRY]),
    Mutation("use-is-a-change", "each use of an entry looks like a change of it", LIBRARY,
             "{0, UTIME_NOW}, {0, UTIME_OMIT}", "{0, UTIME_NOW}, {0, UTIME_NOW}", [ENTRY]),
    Mutation("evicts-what-is-used", "an import that a tensor uses makes room for another", LIBRARY,
             "!buffer->allocation || buffer->allocation.use_count() != 1", "!buffer->allocation",
             ["npucore-import-window"]),
    Mutation("one-buffer-for-all", "all DMA-BUFs of a file system are one", LIBRARY,
             "return {status.st_dev, status.st_ino};", "return {status.st_dev, 0};", ["npucore-dmabuf"]),

    # ---- Inferences and their ends
    Mutation("callback-error-lost", "wait() does not tell the error that a callback got", LIBRARY,
             "item->error_ = error;", "", ["npucore-callback"]),
    Mutation("full-is-internal", "a device without room is told as an internal error", LIBRARY,
             "NPU_RESULT(ERROR_OUT_OF_DEVICE_MEMORY, kOutOfMemory)",
             "NPU_RESULT(ERROR_OUT_OF_DEVICE_MEMORY, kInternal)", ["npucore-import-window"]),

    # ---- What is seen from outside
    Mutation("drops-untold", "no statistics are posted while frames are dropped", PLUGIN,
             "shared_.stats_messages.post_if_due(now_ns());", "", ["gst-element-live-too-slow"]),
    Mutation("told-twice", "the tracer tells a stream's end at its EOS and again when it stops", PLUGIN,
             "if (watched.is_told && now.frames == watched.told_frames) return;", "", ["gst-tracer"]),
    Mutation("page-cut-short", "others may cut the page of a process short", DRIVER, "seal(file_.get());",
             "static_cast<void>(seal);", ["status"]),
    Mutation("anybodys-page", "npu-top counts a process that has another one's page", TOOLS,
             "if (!page || page->process != own_id_of(process_, pid_)) return;",
             "if (!page || page->process == own_id_of(process_, pid_) + 1) return;", ["npu-top"]),

    # ---- The software NPU's traps
    Mutation("priority-upside-down", "low priority goes first", DRIVER,
             "return a_priority > b_priority;", "return a_priority < b_priority;", ["*engine"]),
    Mutation("fence-stays-signalled", "a fence that was reset is still signalled", DRIVER,
             "submitted_ = false; signalled_ = false;", "submitted_ = false;", ["conformance plain"]),
    Mutation("endless-window", "the address range for imports has no end", DRIVER,
             "bytes > limit_bytes_ || used > limit_bytes_ - bytes", "bytes > limit_bytes_", ["npucore-import-window"]),
    Mutation("argument-too-short", "memory shorter than its argument is taken", DRIVER,
             "return allocation->size_bytes() - offset >= size_bytes ? allocation : nullptr;",
             "return allocation->size_bytes() - offset + size_bytes > 0 ? allocation : nullptr;", ["conformance plain"]),
]
