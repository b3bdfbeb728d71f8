// The functions of libpaho-mqtt3cs, the client with TLS, that the plugin uses. The library's
// asynchronous client leaves a message to two owners where a connection breaks while it is sent
// (1.3.12).
#pragma once

#include <MQTTClient.h>

#include "openssl.hpp"

namespace gstnpu {

struct Paho {
  decltype(::MQTTClient_createWithOptions)* create = nullptr;
  decltype(::MQTTClient_setCallbacks)* set_callbacks = nullptr;
  decltype(::MQTTClient_setPublished)* set_published = nullptr;
  decltype(::MQTTClient_setDisconnected)* set_disconnected = nullptr;
  decltype(::MQTTClient_connect)* connect = nullptr;
  decltype(::MQTTClient_connect5)* connect5 = nullptr;
  decltype(::MQTTClient_isConnected)* is_connected = nullptr;
  decltype(::MQTTClient_receive)* receive = nullptr;
  decltype(::MQTTClient_publishMessage)* publish = nullptr;
  decltype(::MQTTClient_publishMessage5)* publish5 = nullptr;
  decltype(::MQTTClient_disconnect)* disconnect = nullptr;
  decltype(::MQTTClient_disconnect5)* disconnect5 = nullptr;
  decltype(::MQTTClient_destroy)* destroy = nullptr;
  decltype(::MQTTClient_freeMessage)* free_message = nullptr;
  decltype(::MQTTClient_free)* free = nullptr;
  decltype(::MQTTClient_strerror)* describe = nullptr;
  decltype(::MQTTReasonCode_toString)* describe_reason = nullptr;
  decltype(::MQTTResponse_free)* free_response = nullptr;
  decltype(::MQTTProperties_add)* add_property = nullptr;
  decltype(::MQTTProperties_hasProperty)* has_property = nullptr;
  decltype(::MQTTProperties_getNumericValue)* number_of = nullptr;
  decltype(::MQTTProperties_free)* free_properties = nullptr;
  OpenSsl openssl;
  MQTTClient keeper = nullptr;  // is there for good, and never connects

  /// Throws npu::Error where the library is not there.
  static const Paho& get();

  /// The response's code: a reason of MQTT 5, or an error of the library, which is negative and so
  /// no value of the enum that holds it. Frees the response.
  int take_code(const MQTTResponse& response) const;
  /// Whether the library's thread runs, which receives for all clients. The first that connects
  /// starts it, and it ends with the last one's connection.
  bool is_receiving() const;
};

}  // namespace gstnpu
