/* entity.h - what an expression denotes. */
#ifndef RG_TYPED_ENTITY_H
#define RG_TYPED_ENTITY_H

#include "base/error.h"
#include "ir/ir.h"
#include "typed/input.h"
#include "typed/ty.h"

typedef enum EntityKind {
  ENTITY_NONE,  /* an earlier failure left it unknown */
  ENTITY_VALUE, /* a number or bool: a local, a literal, an operation, a call */
  /* a launch argument: a captured number or a parameter that is never assigned */
  ENTITY_ARGUMENT,
  ENTITY_CONSTANT, /* an integer known from the layout: `#x`, `x.shape[0]` */
  ENTITY_ELEMENT,  /* a field with all its indices: a value that can be assigned */
  /* some numbers of the vector, matrix or struct `left`: `v.x` `v.zy` `v[i]` `p.mass`; can be
   * assigned where `left` can */
  ENTITY_PART,
  ENTITY_ITEM,     /* a counted array's value with all its indices: a value that can be assigned */
  ENTITY_ITEM_ROW, /* the same with only some of its indices */
  ENTITY_FIELD,    /* a field or an array with fewer than all of its indices */
  ENTITY_NODE,
  ENTITY_SHAPE, /* x.shape, x.offset */
  ENTITY_TYPE,
  ENTITY_BUILTIN,
  ENTITY_LOOP,     /* rg.range(..) or x:active(): the head of a loop */
  ENTITY_VOID,     /* a call without a result */
  ENTITY_FUNCTION, /* that the user wrote */
  ENTITY_TABLE,
  ENTITY_LIST,   /* a table whose contents are known when the kernel is compiled */
  ENTITY_RECORD, /* a table of values, each of which is a local: `{pos = p, r = 2}`, `{a, b}` */
  ENTITY_OTHER   /* nil, a string .. */
} EntityKind;

typedef enum Algebra {
  ALGEBRA_NONE,
  ALGEBRA_DOT,
  ALGEBRA_CROSS,
  ALGEBRA_NORM,
  ALGEBRA_NORMALIZE,
  ALGEBRA_OUTER,
  ALGEBRA_TRANSPOSE,
  ALGEBRA_TRACE,
  ALGEBRA_DETERMINANT,
  ALGEBRA_INVERSE,
  ALGEBRA_SUM, /* to ALL: reductions of all numbers of a value */
  ALGEBRA_MIN,
  ALGEBRA_MAX,
  ALGEBRA_ANY,
  ALGEBRA_ALL,
  ALGEBRA_CLAMP, /* from here on elementwise */
  ALGEBRA_HADAMARD,
  ALGEBRA_MIX,
  ALGEBRA_STEP,
  ALGEBRA_SMOOTHSTEP,
  ALGEBRA_SELECT
} Algebra;

/* of counted arrays; all but the first two are methods */
typedef enum ArrayForm {
  ARRAY_ZEROS,
  ARRAY_LIST,
  ARRAY_LENGTH,
  ARRAY_EXTENT,
  ARRAY_APPEND,
  ARRAY_POP,
  ARRAY_SLICE,
  ARRAY_CLEAR
} ArrayForm;

typedef enum BuiltinForm {
  FORM_RANGE,
  FORM_FLOAT,
  FORM_LOG,
  FORM_ANGLE,
  FORM_NUMERIC,
  FORM_ROUND,
  FORM_BITS,
  FORM_SHIFT,
  FORM_TOBIT,
  FORM_BITCAST, /* to Call.cast: bitcast.c */
  FORM_RESCALE, /* a function that is expanded: rescale.c */
  FORM_TYPE,    /* rg.vec, rg.mat, rg.array_type: makes a type */
  FORM_ARRAY,   /* counted arrays: arrays.c. Of a new one, Call.cast is its type */
  FORM_LIBRARY, /* written in the kernel language: library_call.c */
  FORM_RANDOM,  /* Expr.random says what it draws */
  FORM_MESSAGE, /* print, assert, error: a statement; the message is in Expr.message */
  FORM_NATIVE,  /* of an extension in C: Builtin.native */
  FORM_ALGEBRA  /* of whole vectors and matrices, and the functions of shaders: algebra.c */
} BuiltinForm;
enum { NATIVE_MOST = 6 }; /* RT_NATIVE_VALUES */

typedef struct Native { /* a function of an extension in C */
  int number, id;       /* the runtime's; the host's own */
  Type result;          /* a number or an array of numbers; NONE: no result */
  int count;
  Type parameters[NATIVE_MOST];
  bool
      has_unsupported_types; /* it has other types or too many parameters: kernels cannot call it */
} Native;

typedef struct Builtin {
  const char *name;
  BuiltinForm form;
  IrOp op;
  int least, most;
  int algebra;       /* ALGEBRA, ARRAY: which */
  const char *takes; /* LIBRARY: a letter for each argument */
  const Native *native;
} Builtin;

typedef enum MethodForm {
  METHOD_RMW,
  METHOD_CAS,
  METHOD_TOPOLOGY,
  METHOD_IS_ACTIVE,
  METHOD_COUNT,
  METHOD_CLEAR,
  METHOD_LIST,
  METHOD_ITEMS,
  METHOD_ACTIVE,
  METHOD_MODIFIER,
  METHOD_BULK,
  METHOD_SAMPLE, /* a function of the library: sample.c */
  METHOD_HOST
} MethodForm;
typedef struct Method {
  const char *name;
  MethodForm form;
  int op;
  int values;
} Method;

/* An array that the kernel names: its extents are launch arguments. */
typedef struct ArrayUse {
  SemaArray of;
  SemaArg source;
  const char *name;
  Type type;   /* of an element */
  int extents; /* the LaunchArg that is its shape */
  int header;  /* 1 + the LaunchArg of its header, if it is used as a value; otherwise 0 */
  int number;  /* in kernel->arrays, once it is lowered */
} ArrayUse;

/* The selected numbers of a value; count 0: all. */
typedef struct Parts {
  int count;
  int first; /* number k is first + at[k]; in a run (a struct's member) first + k */
  bool is_run;
  uint8_t at[4];
  Type type; /* of a struct's member: as FieldRef.type; otherwise NONE, the whole's type */
} Parts;

static inline int parts_at(const Parts *parts, int k) {
  if (!parts->count) return k;
  return parts->first + (parts->is_run ? k : parts->at[k]);
}

/* Something with indices, as the kernel names it: a field, an SNode, an array, an element. It
 * belongs to a level of a tree or to an array. */
typedef struct FieldPeers FieldPeers;

typedef struct FieldRef {
  const SNode *node;     /* NULL: in an array, */
  const ArrayUse *array; /* this one; otherwise NULL */
  /* ELEMENT, FIELD: the component of an element's first number; 0 in an array */
  int component;
  const int64_t *offset; /* where its indices start, per axis; NULL: at 0 */
  bool is_watched;       /* writing a number that is not finite is an error */
  bool is_movable;       /* each launch passes the place of its elements: SemaValue */
  int index_count;       /* indices it already has */
  int part; /* of one member, which is only read: 1 + its first number in an element; otherwise 0 */
  const FieldPeers *peers; /* the first index selects one of these, which are read-only; or NULL */
  SemaArg source;          /* the capture or parameter it comes from */
  Type type; /* ELEMENT, FIELD: of one number of an element, type_base of the field's */
} FieldRef;

typedef struct ItemRef {
  Type array;      /* of the array's value */
  int index_count; /* indices it already has */
  Type type;       /* ITEM: type_base of an element */
} ItemRef;

typedef struct ShapeRef {
  const SNode *node; /* NULL: of an array */
  const ArrayUse *array;
  const int64_t *offset;
  bool is_offset; /* x.offset */
  Parts axes;
} ShapeRef;

/* The number of indices of an element, which is the length of x.shape. */
static inline int field_rank(const FieldRef *field) {
  return field->array ? field->array->of.axis_count : field->node->rank + (field->peers != NULL);
}

typedef struct LaunchArgRef {
  int number;  /* of a LaunchArg */
  Parts parts; /* names after it: `dt.yx` of a captured vector */
} LaunchArgRef;

/* The function number of library functions: they capture nothing and see the names of `rg`. */
enum { FUNCTION_LIBRARY = -1 };
typedef struct FunctionRef {
  SemaArg source;
  const AstFunction *text; /* NULL: not known */
  const Source *source_text;
  int number;       /* its free names are paths of this function */
  bool is_iterator; /* its last parameter is a function, which it calls for each item of a loop */
  /* it is the body of a loop over an iterator: this call of the iterator; otherwise NULL */
  const struct Expr *body_of;
  /* defined inside a function of the kernel, or (NULL) in the kernel itself, whose locals it
   * sees */
  bool is_inner;
  struct Inline *within;
} FunctionRef;

typedef struct List List; /* resolve */
typedef struct ListIndex ListIndex;
typedef struct ListRef {
  const List *list;
  ListIndex *index; /* of a row: the last of the run-time indices so far; NULL: none */
} ListRef;

typedef struct Record Record; /* nodes.h */

typedef struct OtherRef {
  SemaArg source;
  SemaValueKind value;
  const char *what; /* "a string" */
  bool is_missing;  /* nil: a parameter without an argument */
} OtherRef;

/* One struct per kind that needs one. */
typedef struct Entity {
  EntityKind kind;
  Shape shape;      /* of a value; ELEMENT, FIELD: of an element; TYPE: of its values */
  const char *name; /* how the kernel calls it; may be NULL */
  union {
    FieldRef field;          /* ELEMENT, FIELD, NODE: field_of */
    ItemRef item;            /* ITEM, ITEM_ROW */
    ShapeRef extent;         /* SHAPE */
    LaunchArgRef launch_arg; /* ARGUMENT */
    Parts parts;             /* PART by names; empty for an index */
    int64_t constant;        /* CONSTANT */
    Type type;               /* TYPE: type_base of it */
    const Builtin *builtin;  /* BUILTIN; NULL: one that kernels do not have */
    FunctionRef function;    /* FUNCTION */
    SemaArg table;           /* TABLE: the capture or parameter that passes it */
    ListRef list;            /* LIST */
    const Record *record;    /* RECORD */
    OtherRef other;          /* OTHER */
  };
} Entity;

/* The same field of several ranks, by rank. */
struct FieldPeers {
  int count;
  Entity *of; /* FIELD */
};

/* Is an AST_INDEX `x.shape[0]`? */
static inline bool entity_is_extent(const Entity *entity) {
  return entity->kind == ENTITY_CONSTANT || entity->kind == ENTITY_ARGUMENT;
}

static inline const FieldRef *field_of(const Entity *entity) {
  ASSERT(entity->kind == ENTITY_ELEMENT || entity->kind == ENTITY_FIELD ||
             entity->kind == ENTITY_NODE,
         "it is in a tree");
  return &entity->field;
}

/* -- calls ------------------------------------------------------------------------------------- */

typedef enum CallKind {
  CALL_NONE,       /* none of these: a user's function is `inlined` */
  CALL_BUILTIN,    /* of a METHOD, its object is the first argument */
  CALL_CONVERSION, /* of a type */
  CALL_METHOD      /* of a field or an SNode */
} CallKind;

typedef struct MethodCall {
  const Method *method;
  Entity object; /* a FIELD or a NODE */
  int taken;     /* of a list: the number of arguments that select the list */
  int component; /* of a list: the first one returned */
  Type type;     /* of the result */
} MethodCall;

typedef struct Call {
  CallKind kind;
  union {
    struct {
      const Builtin *builtin;
      Type cast; /* FORM_BITCAST: the type of the result */
    };
    Type type;
    MethodCall method;
  };
} Call;

/* Is it a number, a bool, or several numbers? */
static inline bool entity_is_value(const Entity *entity) {
  switch (entity->kind) {
  case ENTITY_VALUE:
  case ENTITY_ARGUMENT:
  case ENTITY_CONSTANT:
  case ENTITY_ELEMENT:
  case ENTITY_ITEM:
  case ENTITY_PART: return true;
  default: return false;
  }
}

/* Is it something that a local or a parameter can only be a name of, as it is not a value? */
static inline bool entity_is_alias(const Entity *entity) {
  switch (entity->kind) {
  case ENTITY_FIELD:
  case ENTITY_NODE:
  case ENTITY_SHAPE:
  case ENTITY_TYPE:
  case ENTITY_BUILTIN:
  case ENTITY_FUNCTION:
  case ENTITY_TABLE:
  case ENTITY_LIST:
  case ENTITY_RECORD: return true;
  default: return false;
  }
}

#endif
