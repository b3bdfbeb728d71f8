// Makes all GTypes of this plugin. Names begin with GstNpu (elements) or Npu (the rest).
#pragma once

#include <gst/gst.h>

#include <type_traits>
#include <utility>

namespace gstnpu {

/// Moves a C++ value to the heap for C code. Whoever holds the pointer owns the value and ends it
/// with end_of<T>().
template <class T>
T* hand_over(T value) {
  return new T(std::move(value));
}
template <class T>
void end_of(gpointer value) {
  delete static_cast<T*>(value);
}

/// A GObject type whose instances own a C++ `State` for their lifetime: `State(Parent*, Class*)`
/// or, without such a constructor, `State()`. `Parent` is the parent type's C struct. `Class` is
/// its class struct, or one that begins with it.
template <class Parent, class Class, class State>
class ObjectType {
 public:
  struct Instance {
    Parent parent;
    State* state;
  };

  /// Registers the type in the first call. `class_init` need not set finalize.
  template <void (*class_init)(Class*)>
  static GType get(const char* name, GType parent, GTypeFlags flags = {}) {
    static const GType type = g_type_register_static_simple(
        parent, g_intern_static_string(name), sizeof(Class),
        [](gpointer klass, gpointer) {
          parent_class_ = static_cast<Class*>(g_type_class_peek_parent(klass));
          G_OBJECT_CLASS(klass)->finalize = finalize;
          class_init(static_cast<Class*>(klass));
        },
        sizeof(Instance), init, flags);
    return type;
  }

  static State& state_of(gpointer instance) { return *static_cast<Instance*>(instance)->state; }
  /// The parent type's class; has only the members of its own class struct.
  static Class* parent_class() { return parent_class_; }

 private:
  static void init(GTypeInstance* base, gpointer klass) {
    auto* instance = reinterpret_cast<Instance*>(base);
    if constexpr (std::is_constructible_v<State, Parent*, Class*>) {
      instance->state = new State(&instance->parent, static_cast<Class*>(klass));
    } else {
      instance->state = new State();
    }
  }
  static void finalize(GObject* object) {
    delete reinterpret_cast<Instance*>(object)->state;
    G_OBJECT_CLASS(parent_class_)->finalize(object);
  }

  static inline Class* parent_class_ = nullptr;
};

/// A type like `parent`, except for what `class_init` changes.
template <void (*class_init)(gpointer klass)>
GType derived_type(const char* name, GType parent) {
  static const GType type = [&] {
    GTypeQuery above;
    g_type_query(parent, &above);
    return g_type_register_static_simple(parent, g_intern_static_string(name), above.class_size,
                                         [](gpointer klass, gpointer) { class_init(klass); },
                                         above.instance_size, nullptr, {});
  }();
  return type;
}

/// `values` ends with zeros.
template <const auto& values>
GType enum_type(const char* name) {
  static const GType type = g_enum_register_static(g_intern_static_string(name), values);
  return type;
}

}  // namespace gstnpu
