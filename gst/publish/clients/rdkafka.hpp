// The functions of librdkafka that the plugin uses.
#pragma once

#include <librdkafka/rdkafka.h>

namespace gstnpu {

struct RdKafka {
  decltype(::rd_kafka_conf_new)* conf_new = nullptr;
  decltype(::rd_kafka_conf_destroy)* conf_destroy = nullptr;
  decltype(::rd_kafka_conf_set)* conf_set = nullptr;
  decltype(::rd_kafka_conf_set_opaque)* conf_set_opaque = nullptr;
  decltype(::rd_kafka_conf_set_dr_msg_cb)* conf_set_delivered = nullptr;
  decltype(::rd_kafka_conf_set_error_cb)* conf_set_error = nullptr;
  decltype(::rd_kafka_conf_set_log_cb)* conf_set_log = nullptr;
  decltype(::rd_kafka_new)* create = nullptr;
  decltype(::rd_kafka_destroy)* destroy = nullptr;
  decltype(::rd_kafka_topic_new)* topic_new = nullptr;
  decltype(::rd_kafka_topic_destroy)* topic_destroy = nullptr;
  decltype(::rd_kafka_produce)* produce = nullptr;
  decltype(::rd_kafka_poll)* poll = nullptr;
  decltype(::rd_kafka_purge)* purge = nullptr;
  decltype(::rd_kafka_fatal_error)* fatal_error = nullptr;
  decltype(::rd_kafka_clusterid)* cluster_id = nullptr;
  decltype(::rd_kafka_controllerid)* controller_id = nullptr;
  decltype(::rd_kafka_mem_free)* free = nullptr;
  decltype(::rd_kafka_last_error)* last_error = nullptr;
  decltype(::rd_kafka_err2str)* describe = nullptr;

  /// Throws npu::Error where the library is not there.
  static const RdKafka& get();

  /// Whether a broker has told this client, once, who the brokers are: it has let the client in.
  bool was_let_in(rd_kafka_t* client) const;
};

}  // namespace gstnpu
