#include "rdkafka.hpp"

#include "shared_library.hpp"

namespace gstnpu {
namespace {

RdKafka load() {
  const SharedLibrary library("librdkafka.so.1", "librdkafka1");
  RdKafka kafka;
  library.find("rd_kafka_conf_new", kafka.conf_new);
  library.find("rd_kafka_conf_destroy", kafka.conf_destroy);
  library.find("rd_kafka_conf_set", kafka.conf_set);
  library.find("rd_kafka_conf_set_opaque", kafka.conf_set_opaque);
  library.find("rd_kafka_conf_set_dr_msg_cb", kafka.conf_set_delivered);
  library.find("rd_kafka_conf_set_error_cb", kafka.conf_set_error);
  library.find("rd_kafka_conf_set_log_cb", kafka.conf_set_log);
  library.find("rd_kafka_new", kafka.create);
  library.find("rd_kafka_destroy", kafka.destroy);
  library.find("rd_kafka_topic_new", kafka.topic_new);
  library.find("rd_kafka_topic_destroy", kafka.topic_destroy);
  library.find("rd_kafka_produce", kafka.produce);
  library.find("rd_kafka_poll", kafka.poll);
  library.find("rd_kafka_purge", kafka.purge);
  library.find("rd_kafka_fatal_error", kafka.fatal_error);
  library.find("rd_kafka_clusterid", kafka.cluster_id);
  library.find("rd_kafka_controllerid", kafka.controller_id);
  library.find("rd_kafka_mem_free", kafka.free);
  library.find("rd_kafka_last_error", kafka.last_error);
  library.find("rd_kafka_err2str", kafka.describe);
  return kafka;
}

}  // namespace

const RdKafka& RdKafka::get() {
  static const RdKafka kafka = load();
  return kafka;
}

/// Asks for what the library has kept. Brokers that are just starting know no controller, and
/// others have no name for all of them.
bool RdKafka::was_let_in(rd_kafka_t* client) const {
  if (controller_id(client, 0) >= 0) return true;
  char* cluster = cluster_id(client, 0);
  if (cluster == nullptr) return false;
  free(client, cluster);
  return true;
}

}  // namespace gstnpu
