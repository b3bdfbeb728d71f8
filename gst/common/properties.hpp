// Properties of elements, as tables.
#pragma once

#include <gst/gst.h>

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "bus.hpp"

namespace gstnpu {

constexpr auto kReadOnly = static_cast<GParamFlags>(G_PARAM_READABLE | G_PARAM_STATIC_STRINGS);
/// Takes effect when the element goes to READY or PAUSED.
constexpr auto kUntilReady =
    static_cast<GParamFlags>(G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_READY);
constexpr auto kWhilePlaying = static_cast<GParamFlags>(G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS |
                                                        GST_PARAM_MUTABLE_PLAYING);

// ---- How members of settings look as values of properties

inline void read(const GValue* value, std::string& member) {
  const gchar* text = g_value_get_string(value);
  member = text ? text : "";
}
inline void write(const std::string& member, GValue* value) {
  g_value_set_string(value, member.c_str());
}

/// A boolean, or an enum of two values.
inline void read(const GValue* value, bool& member) {
  member = G_VALUE_HOLDS_ENUM(value) ? g_value_get_enum(value) != 0 : g_value_get_boolean(value);
}
inline void write(bool member, GValue* value) {
  if (G_VALUE_HOLDS_ENUM(value)) return g_value_set_enum(value, member ? 1 : 0);
  g_value_set_boolean(value, member);
}

inline void read(const GValue* value, float& member) {
  member = g_value_get_float(value);
}
inline void write(float member, GValue* value) {
  g_value_set_float(value, member);
}

/// Negative values stand for none.
inline void read(const GValue* value, std::optional<float>& member) {
  const float number = g_value_get_float(value);
  member = number < 0 ? std::nullopt : std::optional(number);
}
inline void write(std::optional<float> member, GValue* value) {
  g_value_set_float(value, member.value_or(-1));
}

template <class Number>
requires std::is_unsigned_v<Number>
void read(const GValue* value, Number& member) {
  member = g_value_get_uint(value);
}
template <class Number>
requires std::is_unsigned_v<Number>
void write(Number member, GValue* value) {
  g_value_set_uint(value, static_cast<guint>(member));
}

template <class Enum>
requires std::is_enum_v<Enum>
void read(const GValue* value, Enum& member) {
  member = static_cast<Enum>(g_value_get_enum(value));
}
template <class Enum>
requires std::is_enum_v<Enum>
void write(Enum member, GValue* value) {
  g_value_set_enum(value, static_cast<gint>(member));
}

/// 0 stands for none.
inline void read(const GValue* value, std::optional<std::uint32_t>& member) {
  const guint number = g_value_get_uint(value);
  member = number == 0 ? std::nullopt : std::optional(number);
}
inline void write(std::optional<std::uint32_t> member, GValue* value) {
  g_value_set_uint(value, member.value_or(0));
}

/// 0 stands for none, n + 1 for the enum's n.
template <class Enum>
constexpr gint choice(Enum value) {
  return static_cast<gint>(value) + 1;
}
template <class Enum>
requires std::is_enum_v<Enum>
void read(const GValue* value, std::optional<Enum>& member) {
  const gint chosen = g_value_get_enum(value);
  member = chosen == 0 ? std::nullopt : std::optional(static_cast<Enum>(chosen - 1));
}
template <class Enum>
requires std::is_enum_v<Enum>
void write(std::optional<Enum> member, GValue* value) {
  g_value_set_enum(value, member ? choice(*member) : 0);
}

template <class Value>
void read(const GValue* value, std::atomic<Value>& member) {
  Value plain = member;
  read(value, plain);
  member = plain;
}
template <class Value>
void write(const std::atomic<Value>& member, GValue* value) {
  write(member.load(), value);
}

// ---- Tables

/// One row of a table. The spec has kind, name, range, default and blurb.
template <class State>
struct Property {
  GParamSpec* spec;                          ///< floating until it is installed
  void (*set)(State& state, const GValue*);  ///< null: read-only
  void (*get)(const State& state, GValue*);
};

/// A property for a member of `State::settings()`; changed by `State::change_settings()`.
template <class State, auto member>
Property<State> property(GParamSpec* spec) {
  return {spec,
          [](State& state, const GValue* value) {
            state.change_settings([value](auto& settings) { read(value, settings.*member); });
          },
          [](const State& state, GValue* value) { write(state.settings().*member, value); }};
}

/// Installs the rows of `make_rows` as properties of `Type`, which is an ObjectType, or of a type
/// derived from it.
template <class Type, auto make_rows>
class Properties {
 public:
  static void install(gpointer klass) {
    G_OBJECT_CLASS(klass)->set_property = set;
    G_OBJECT_CLASS(klass)->get_property = get;
    guint id = 0;
    for (const auto& row : rows()) {
      g_object_class_install_property(G_OBJECT_CLASS(klass), ++id, row.spec);
    }
  }

 private:
  static const auto& rows() {
    static const auto rows = make_rows();
    return rows;
  }
  static void set(GObject* object, guint id, const GValue* value, GParamSpec* spec) {
    rows().at(id - 1).set(Type::state_of(object), value);
    if ((spec->flags & GST_PARAM_MUTABLE_READY) != 0 && GST_STATE(object) > GST_STATE_READY) {
      post_warning(GST_ELEMENT(object),
                   std::string("the property ") + spec->name +
                       " was set while the element runs: it takes effect when it has gone back "
                       "to READY and starts again");
    }
  }
  static void get(GObject* object, guint id, GValue* value, GParamSpec*) {
    rows().at(id - 1).get(Type::state_of(object), value);
  }
};

}  // namespace gstnpu
