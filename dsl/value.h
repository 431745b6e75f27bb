// Values while staging: static values and handles of data nodes.
//
// Comes in: what expressions evaluate to. Goes out: the same, to statements, operators and built-ins. A Value
// is 16 bytes and is copied freely; objects behind it are owned by the evaluator's Arena and die with it, so
// that cycles and deep nests cost nothing.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/dtype.h"
#include "base/source.h"
#include "compiler/ir/graph.h"
#include "dsl/ast.h"

namespace galatea::op {
struct Operator;
}

namespace galatea::dsl {

class Evaluator;
struct CallArguments;

enum class ValueKind : uint8_t {
  kUndefined,  ///< no value: a name that one path did not assign
  kPoison,     ///< the result of something already reported; silent everywhere
  kUnknown,    ///< a parameter that `check` has no value for
  kNone,
  kBool,
  kInt,
  kFloat,
  kString,
  kList,
  kTuple,
  kDict,
  kRange,
  kArray,
  kStruct,
  kFunction,
  kBuiltin,
  kModule,
  kOperator,
  kOperatorObject,
  kPipeline,
  kPixel,  ///< a pixel function
  kDecorator,
  kDType,
  kEnum,
  kNewAxis,
  kEllipsis,
  kException,
  kNode,
  kPending,  ///< several paths assigned different values; becomes a value when it is read
};

/// Where an array was made, and so where it may be changed: not on a path that only some samples take.
enum class ArrayHome : uint8_t { kFile, kPipeline, kSomeSamples };

/// Anything on the arena.
struct Object {
  virtual ~Object() = default;
};

struct StringObject;
struct ContainerObject;
struct SequenceObject;
struct DictObject;
struct RangeObject;
struct ArrayObject;
struct StructObject;
struct FunctionObject;
struct BuiltinObject;
struct ModuleObject;
struct OperatorObject;
struct PipelineObject;
struct PixelObject;
struct EnumObject;
struct PendingObject;
struct NewAxisObject;
struct DecoratorObject;
class Arena;

struct Value {
  ValueKind kind = ValueKind::kUndefined;
  union {
    bool boolean;
    int64_t integer;
    double number;
    DType dtype;
    ir::ValueId node;
    Object* object;
  };

  Value() : integer(0) {}
  explicit Value(ValueKind k) : kind(k), integer(0) {}
  Value(ValueKind k, Object* o) : kind(k), object(o) {}
  static Value none() { return Value(ValueKind::kNone); }
  static Value poison() { return Value(ValueKind::kPoison); }
  static Value of(bool b) {
    Value v(ValueKind::kBool);
    v.boolean = b;
    return v;
  }
  static Value of(int64_t i) {
    Value v(ValueKind::kInt);
    v.integer = i;
    return v;
  }
  static Value of(double d) {
    Value v(ValueKind::kFloat);
    v.number = d;
    return v;
  }
  static Value of(DType t) {
    Value v(ValueKind::kDType);
    v.dtype = t;
    return v;
  }
  static Value of_node(ir::ValueId id) {
    Value v(ValueKind::kNode);
    v.node = id;
    return v;
  }

  bool is(ValueKind k) const { return kind == k; }
  bool is_poison() const { return kind == ValueKind::kPoison || kind == ValueKind::kUnknown; }
  bool is_node() const { return kind == ValueKind::kNode; }
  bool is_number() const {
    return kind == ValueKind::kBool || kind == ValueKind::kInt || kind == ValueKind::kFloat;
  }
  bool is_integral() const { return kind == ValueKind::kBool || kind == ValueKind::kInt; }
  bool is_sequence() const { return kind == ValueKind::kList || kind == ValueKind::kTuple; }
  /// Of a bool or an int.
  int64_t as_int() const { return kind == ValueKind::kBool ? boolean : integer; }
  /// Of any number.
  double as_double() const { return kind == ValueKind::kFloat ? number : static_cast<double>(as_int()); }
  const std::string& text() const;
  SequenceObject& sequence() const;
  std::vector<Value>& elements() const;
  DictObject& dict() const;
  ContainerObject& container() const;  ///< of a list or dict
  template <typename T>
  T& as() const {
    return *static_cast<T*>(object);
  }
  /// The same object, node or plain value (not equality of contents).
  bool same_as(const Value& other) const;
};

/// What a name stands for, and where it got it.
struct Binding {
  Value value;
  Span span;
};
using Env = std::unordered_map<std::string, Binding>;

struct StringObject : Object {
  std::string text;
};
/// What a list or dict is to the branches around it. It may be changed only where all the samples are
/// together for which it was made, and only while no merge has made a second object of it (see
/// merges.cpp).
struct ContainerObject : Object {
  uint32_t region = 0;  ///< the samples for which it was made (regions.h)
  Span span;
  std::vector<ContainerObject*> merged_into;  ///< the objects that stand for it after branches
  Span twin;  ///< valid: for some samples, what was made there is the same object, so that it may not change
  bool changed = false;
  bool spoiled = false;  ///< a change of it was refused: what it holds is not known
};
/// A list or a tuple.
struct SequenceObject : ContainerObject {
  std::vector<Value> elements;
};
struct DictObject : ContainerObject {
  std::vector<std::pair<Value, Value>> entries;
  std::unordered_map<std::string, size_t> index;
  Arena* arena = nullptr;  ///< counts the entries
  Value* find(const std::string& key_text);
  void set(const std::string& key_text, Value key, Value value);
  bool erase(const std::string& key_text);
};
struct RangeObject : Object {
  int64_t start = 0, stop = 0, step = 1;
  int64_t size() const;
};
struct StructObject : Object {
  std::string type;  ///< of a record of the library: "Augmentation"; empty: a plain `struct`
  std::vector<std::pair<std::string, Value>> fields;
  /// nullptr: there is none. `__call__` and `__getitem__` make a record callable and indexable.
  const Value* find(std::string_view name) const;
};
struct EnumObject : Object {
  std::string name;
  int64_t value = 0;
};
struct NewAxisObject : Object {
  std::string name;
};

/// The state of one call of a function; comprehensions inside it share it.
struct Frame;
struct FunctionObject : Object {
  std::string name;
  const std::vector<Parameter>* parameters = nullptr;
  std::vector<Value> defaults;             ///< one per parameter; kUndefined: none
  const Suite* body = nullptr;             ///< a def
  const Expression* expression = nullptr;  ///< a lambda
  Frame* closure = nullptr;
  ModuleObject* module = nullptr;
  Span span;
  bool poisoned = false;          ///< its header failed to parse
  bool has_syntax_error = false;  ///< some of its body failed to parse; the rest is checked
  bool called = false;
};

using BuiltinFunction = Value (*)(Evaluator&, CallArguments&);
struct BuiltinObject : Object {
  std::string name;
  BuiltinFunction function = nullptr;
  Value self;            ///< of a method
  bool is_type = false;  ///< int, float, str, …: may stand in isinstance and annotations
};

struct ModuleObject : Object {
  std::string name;
  Env names;
  enum class Lookup : uint8_t {
    kNames,
    kOperators,
    kOperatorObjects,
    kHost  ///< of the host program: using it is an error
  } lookup = Lookup::kNames;
  std::string prefix;       ///< kOperators: "" for fn, "random." for fn.random
  Frame* frame = nullptr;   ///< of a file: its names
  bool of_library = false;  ///< a file of the library: what fails in it is shown at the user's line
  bool broken = false;      ///< a file that could not be read: every name in it is poison
};

/// `fn.resize`, or an operator object: an operator with some arguments given.
struct OperatorObject : Object {
  const op::Operator* op = nullptr;
  std::string path;                                      ///< as looked up
  bool expects_init = false;                             ///< ops.Resize, not yet called
  std::vector<std::pair<std::string, Value>> arguments;  ///< of an operator object
  std::vector<std::pair<Span, Span>> argument_spans;     ///< of each value and its name
};

struct PipelineObject : Object {
  std::string name;
  FunctionObject* function = nullptr;
  std::vector<std::pair<std::string, Value>> options;
  std::vector<Span> option_spans, option_name_spans;
  Span span;
};
/// A function decorated with @galatea.pixel, with the arguments that the decorator gave it.
struct PixelObject : Object {
  struct Option {
    std::string name;
    Value value;
    Span span;
  };
  FunctionObject* function = nullptr;  ///< nullptr: a decorator that waits for its function
  std::vector<Option> options;
};
struct DecoratorObject : Object {
  std::vector<std::pair<std::string, Value>> options;
  std::vector<Span> option_spans, option_name_spans;
};

/// A variable after a join of paths on which it has different values.
struct PendingObject : Object {
  struct Arm {
    Value value;
    Span span;  ///< its last assignment
    Span end;   ///< of the path; invalid: an `else` that is not written
  };
  std::string name;
  ir::BlockId join = 0;
  uint32_t region = 0;  ///< of the join
  uint32_t origin = 0;  ///< the region in which its paths parted
  std::vector<Arm> arms;
  Span span;  ///< of the `if` or loop
  std::string_view construct;
  bool resolved = false;
  Value result;
};

/// Owns every object of one evaluation, and counts their bytes.
class Arena {
 public:
  template <typename T>
  T* make(size_t extra_bytes = 0) {
    auto owned = std::make_unique<T>();
    T* object = owned.get();
    objects_.push_back(std::move(owned));
    bytes_ += sizeof(T) + sizeof(void*) + kAllocationBytes + extra_bytes;
    return object;
  }
  /// Bytes that something of the evaluation holds beside its objects.
  void count(size_t bytes) { bytes_ += bytes; }
  void release(size_t bytes) { bytes_ -= bytes; }
  size_t bytes() const { return bytes_; }

 private:
  static constexpr size_t kAllocationBytes = 16;  ///< what the allocator keeps for itself
  std::vector<std::unique_ptr<Object>> objects_;
  size_t bytes_ = 0;
};

/// Bounds a walk over a value: values may share parts (`x = [x, x]`, sixty times) and contain themselves.
class Walk {
 public:
  enum class End : uint8_t { kWhole, kTooLong, kTooDeep };
  static constexpr size_t kMaxDepth = 1000;  ///< about where Python ends in a RecursionError

  explicit Walk(size_t budget, size_t max_depth = kMaxDepth) : budget_(budget), max_depth_(max_depth) {}
  /// Counts elements, or 16 bytes each, and says whether to go on.
  bool visit(size_t elements = 1) {
    visited_ += elements;
    if (visited_ > budget_ && end_ == End::kWhole) end_ = End::kTooLong;
    return end_ == End::kWhole;
  }
  size_t visited() const { return visited_; }
  End end() const { return end_; }

  /// While it lives, the walk is inside `object`.
  class Inside {
   public:
    Inside(Walk& walk, const Object* object) : walk_(walk) {
      walk.path_.push_back(object);
      if (walk.path_.size() > walk.max_depth_ && walk.end_ == End::kWhole) walk.end_ = End::kTooDeep;
    }
    ~Inside() { walk_.path_.pop_back(); }
    Inside(const Inside&) = delete;
    Inside& operator=(const Inside&) = delete;

   private:
    Walk& walk_;
  };
  bool is_inside(const Object* object) const;

 private:
  size_t budget_, visited_ = 0, max_depth_;
  End end_ = End::kWhole;
  std::vector<const Object*> path_;
};

/// "an int", "a list", "a data node": with its article, for messages.
std::string describe_kind(const Value& value);
/// Python's name of the type: "int", "list".
std::string_view type_name(const Value& value);
/// As Python's repr and str. Means nothing unless the walk ends whole.
std::string repr(const Value& value, Walk& walk);
std::string to_display(const Value& value, Walk& walk);
/// The same for messages: what is long or deep is cut with "...".
std::string repr(const Value& value);
std::string to_display(const Value& value);
/// A text of repr() as Python's ascii() gives it: with escapes for all but ASCII.
std::string in_ascii(const std::string& text);
std::string format_float(double value);
/// `%` and `//` of floats, as Python has them.
double float_remainder(double a, double b);
double float_quotient(double a, double b);

// ---- text (UTF-8) ----
std::string_view character_at(std::string_view text, size_t index);
/// As std::string::find, in linear time whatever the texts are.
size_t find_text(const std::string& text, const std::string& wanted, size_t from);
/// Equality as Python's ==, on static values. Means nothing unless the walk ends whole.
bool equal(const Value& a, const Value& b, Walk& walk);
/// Whether a static value counts as true.
bool truth(const Value& value);
/// The text under which a dict finds a key; empty: not hashable, or a tuple of more than a million elements
/// or a thousand levels.
std::string key_text(const Value& value, Walk* walk = nullptr);
/// Whether a data node stands somewhere in it. `visited` grows by the elements that were looked at.
bool contains_node(const Value& value, size_t* visited = nullptr);
bool contains_poison(const Value& value, size_t* visited = nullptr);

}  // namespace galatea::dsl
