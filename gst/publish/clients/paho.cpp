#include "paho.hpp"

#include <cstring>

#include "shared_library.hpp"

namespace gstnpu {
namespace {

Paho load() {
  const SharedLibrary library("libpaho-mqtt3cs.so.1", "libpaho-mqtt1.3");
  Paho paho;
  library.find("MQTTClient_createWithOptions", paho.create);
  library.find("MQTTClient_setCallbacks", paho.set_callbacks);
  library.find("MQTTClient_setPublished", paho.set_published);
  library.find("MQTTClient_setDisconnected", paho.set_disconnected);
  library.find("MQTTClient_connect", paho.connect);
  library.find("MQTTClient_connect5", paho.connect5);
  library.find("MQTTClient_isConnected", paho.is_connected);
  library.find("MQTTClient_receive", paho.receive);
  library.find("MQTTClient_publishMessage", paho.publish);
  library.find("MQTTClient_publishMessage5", paho.publish5);
  library.find("MQTTClient_disconnect", paho.disconnect);
  library.find("MQTTClient_disconnect5", paho.disconnect5);
  library.find("MQTTClient_destroy", paho.destroy);
  library.find("MQTTClient_freeMessage", paho.free_message);
  library.find("MQTTClient_free", paho.free);
  library.find("MQTTClient_strerror", paho.describe);
  library.find("MQTTReasonCode_toString", paho.describe_reason);
  library.find("MQTTResponse_free", paho.free_response);
  library.find("MQTTProperties_add", paho.add_property);
  library.find("MQTTProperties_hasProperty", paho.has_property);
  library.find("MQTTProperties_getNumericValue", paho.number_of);
  library.find("MQTTProperties_free", paho.free_properties);
  paho.openssl = OpenSsl::of(library);
  return paho;
}

/// The library frees its lists with the last client, also where another one begins meanwhile.
void keep_lists(Paho& paho) {
  paho.create(&paho.keeper, "tcp://localhost:1883", "keeper", MQTTCLIENT_PERSISTENCE_NONE, nullptr,
              nullptr);
}

}  // namespace

const Paho& Paho::get() {
  static const Paho paho = [] {
    Paho loaded = load();
    keep_lists(loaded);
    return loaded;
  }();
  return paho;
}

int Paho::take_code(const MQTTResponse& response) const {
  int code = 0;
  static_assert(sizeof code == sizeof response.reasonCode);
  std::memcpy(&code, &response.reasonCode, sizeof code);
  free_response(response);
  return code;
}

/// Nobody receives by hand where the thread does; without it, nobody who is not connected does.
bool Paho::is_receiving() const {
  char* topic = nullptr;
  int size = 0;
  MQTTClient_message* message = nullptr;
  return receive(keeper, &topic, &size, &message, 0) != MQTTCLIENT_DISCONNECTED;
}

}  // namespace gstnpu
