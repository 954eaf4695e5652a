/* ir_maker.c - see ir_maker.h. Values are named by number; those of a type that are visible are in
 * a list, which is cut back where their region ends, and takes no more when it is full. */
#include "ir_maker.h"

enum { MOST_VALUES = 48, MOST_VARS = 8, MOST_DEPTH = 3, MOST_INSTS = 400 };

typedef enum MakeType { I32, I64, U8, U32, F32, F64, BOOLEAN, TYPES } MakeType;
static const char *const type_names[] = {"i32", "i64", "u8", "u32", "f32", "f64", "bool"};
static bool is_float(MakeType t) { return t == F32 || t == F64; }

typedef struct MakeField {
  MakeType type;
  int rank;
  bool is_sparse;
} MakeField;
static const MakeField fields[] = {{I32, 1, false}, {I64, 1, false}, {F32, 1, false},
                                   {U8, 1, false},  {I32, 2, false}, {F64, 2, false},
                                   {I32, 2, true},  {F32, 2, true}};
enum { FIELDS = sizeof fields / sizeof *fields };
/* Levels: l0 the cells of f0 to f3, l1 those of f4 and f5, l2 of f6 and f7, l3 their blocks. */
static const char header[] =
    "kernel made\n"
    "tree t0 = root{ dense \"i\" 24 { i32 a, i64 b, f32 c, u8 d }, "
    "dense \"ij\" 6 5 { i32 g, f64 h } }\n"
    "tree t1 = root{ pointer \"ij\" 4 4 { dense \"ij\" 4 4 { i32 p, f32 q } } }\n"
    "field f0 = t0.node 1.component 0: i32 a\nfield f1 = t0.node 1.component 1: i64 b\n"
    "field f2 = t0.node 1.component 2: f32 c\nfield f3 = t0.node 1.component 3: u8 d\n"
    "field f4 = t0.node 2.component 0: i32 g\nfield f5 = t0.node 2.component 1: f64 h\n"
    "field f6 = t1.node 2.component 0: i32 p\nfield f7 = t1.node 2.component 1: f32 q\n"
    "level l0 = t0.node 1 x\nlevel l1 = t0.node 2 y\nlevel l2 = t1.node 2 z\n"
    "level l3 = t1.node 1 w\narg 0: i32 m\narg 1: f32 r\n";

typedef enum Role { READ, OWN, UPDATED, ROLES } Role;
typedef struct Names {
  int items[MOST_VALUES], count;
} Names;
typedef struct Var {
  int name;
  MakeType type;
} Var;

typedef struct Maker {
  StrBuf *out;
  const uint8_t *data;
  size_t left;
  int next, insts, depth;
  Names visible[TYPES];
  Var vars[MOST_VARS];             /* of this function: the host region, or a body */
  int var_count, first_var, loops; /* loops: serial ones around, in this function */
  /* of the parallel loop that is being made */
  bool in_body, is_sparse;
  int rank, own[2];
  Role roles[FIELDS];
  int ops[FIELDS];
} Maker;

static unsigned pick(Maker *m, unsigned count) {
  if (!m->left) return 0;
  m->left--;
  return *m->data++ % count;
}

static int show(Maker *m, MakeType t) {
  Names *names = &m->visible[t];
  if (names->count < MOST_VALUES) names->items[names->count++] = m->next;
  m->insts++;
  return m->next++;
}

#define line(m, ...) strbuf_format((m)->out, __VA_ARGS__)

static int constant(Maker *m, MakeType t) {
  static const char *const integers[] = {"0", "1", "2", "3", "7", "31", "100"};
  static const char *const floats[] = {"0.0", "1.0", "-1.0", "0.5", "3.0", "1e30", "-7.25"};
  static const char *const least[] = {"-2147483648", "-9223372036854775808", "255", "4294967295"};
  unsigned k = pick(m, 10);
  const char *text = t == BOOLEAN         ? (k & 1 ? "true" : "false")
                     : is_float(t)        ? floats[k % 7]
                     : k == 7             ? least[t]
                     : k == 8 && t <= I64 ? "-1"
                                          : integers[k % 7];
  line(m, "%%v%d: %s = const %s\n", m->next, type_names[t], text);
  return show(m, t);
}

static int value(Maker *m, MakeType t) {
  const Names *names = &m->visible[t];
  if (!names->count || pick(m, 5) == 0) return constant(m, t);
  return names->items[names->count - 1 - (int)pick(m, (unsigned)names->count)];
}

static int binary(Maker *m, const char *op, MakeType result, int a, int b) {
  line(m, "%%v%d: %s = %s %%v%d, %%v%d\n", m->next, type_names[result], op, a, b);
  return show(m, result);
}

static int unary(Maker *m, const char *op, MakeType result, int a) {
  line(m, "%%v%d: %s = %s %%v%d\n", m->next, type_names[result], op, a);
  return show(m, result);
}

/* -- values ------------------------------------------------------------------------------------ */

#define CHOOSE(m, texts) (texts)[pick((m), sizeof(texts) / sizeof *(texts))]

static int compute(Maker *m, MakeType t) {
  static const char *const of_integers[] = {"add", "sub", "mul", "add",  "sub", "floordiv",
                                            "mod", "min", "max", "band", "bor", "bxor",
                                            "shl", "shr", "sar", "rol",  "ror"};
  static const char *const of_floats[] = {"add", "sub", "mul",      "div",
                                          "min", "max", "floordiv", "mod"};
  static const char *const of_bools[] = {"band", "bor", "bxor"};
  static const char *const one_integer[] = {"neg", "abs", "bnot", "bswap"};
  static const char *const one_float[] = {"neg", "abs", "floor", "ceil", "trunc", "round", "sqrt"};
  static const char *const tests[] = {"eq", "ne", "lt", "le", "gt", "ge"};
  unsigned way = pick(m, 8);
  if (way == 0) {
    MakeType from = (MakeType)pick(m, TYPES);
    if (from != t) return unary(m, "convert", t, value(m, from));
  }
  if (way == 1) {
    int c = value(m, BOOLEAN), a = value(m, t), b = value(m, t);
    line(m, "%%v%d: %s = select %%v%d, %%v%d, %%v%d\n", m->next, type_names[t], c, a, b);
    return show(m, t);
  }
  if (way == 2) {
    if (t == BOOLEAN) return unary(m, "bnot", t, value(m, t));
    return unary(m, is_float(t) ? CHOOSE(m, one_float) : CHOOSE(m, one_integer), t, value(m, t));
  }
  if (t == BOOLEAN && way < 7) {
    MakeType of = (MakeType)pick(m, BOOLEAN);
    const char *op = CHOOSE(m, tests);
    int a = value(m, of);
    return binary(m, op, t, a, value(m, of));
  }
  const char *op = t == BOOLEAN  ? CHOOSE(m, of_bools)
                   : is_float(t) ? CHOOSE(m, of_floats)
                                 : CHOOSE(m, of_integers);
  int a = value(m, t);
  return binary(m, op, t, a, value(m, t));
}

/* Never a NaN, whose bits are not defined. */
static int storable(Maker *m, MakeType t) {
  int v = value(m, t);
  if (!is_float(t)) return v;
  int same = binary(m, "eq", BOOLEAN, v, v), zero = constant(m, t);
  line(m, "%%v%d: %s = select %%v%d, %%v%d, %%v%d\n", m->next, type_names[t], same, v, zero);
  return show(m, t);
}

/* -- elements ---------------------------------------------------------------------------------- */

static int place(Maker *m, int field, bool is_own) {
  int index[2] = {0};
  for (int k = 0; k < fields[field].rank; k++) {
    unsigned way = is_own ? 0 : pick(m, 4);
    bool has_own = m->in_body && k < m->rank;
    if (has_own && way < 3) {
      index[k] = m->own[k];
      if (way) index[k] = binary(m, way == 1 ? "add" : "sub", I32, index[k], constant(m, I32));
    } else {
      index[k] = way == 3 ? value(m, I32) : constant(m, I32);
    }
  }
  line(m, "%%v%d: place = place f%d %%v%d", m->next, field, index[0]);
  if (fields[field].rank == 2) line(m, ", %%v%d", index[1]);
  line(m, "\n");
  return m->next++;
}

static bool may_use(const Maker *m, int field) { return m->is_sparse || !fields[field].is_sparse; }

static void load(Maker *m) {
  int field = (int)pick(m, FIELDS);
  if (!may_use(m, field)) return;
  Role role = m->in_body ? m->roles[field] : READ;
  if (role == UPDATED) return;
  int p = place(m, field, role == OWN);
  unary(m, "load", fields[field].type, p);
}

static void write(Maker *m) {
  static const char *const own_ops[] = {"add", "sub", "mul", "min", "max"};
  static const char *const met_ops[] = {"add", "max", "min", "band", "bor", "bxor"};
  int field = (int)pick(m, FIELDS);
  MakeType t = fields[field].type;
  Role role = m->in_body ? m->roles[field] : OWN;
  if (!may_use(m, field) || role == READ || (role == UPDATED && is_float(t))) return;
  int v = storable(m, t), p = place(m, field, m->in_body && role == OWN);
  unsigned way = pick(m, 4);
  const char *op = role == UPDATED ? met_ops[m->ops[field]] : CHOOSE(m, own_ops);
  if (role == OWN && way < 2) line(m, "store %%v%d, %%v%d\n", p, v);
  else if (role == OWN && way == 2 && !is_float(t)) {
    line(m, "%%v%d: %s = rmw %s %%v%d, %%v%d\n", m->next, type_names[t], op, p, v);
    show(m, t);
  } else if (role == UPDATED || !is_float(t)) {
    line(m, "update %s %%v%d, %%v%d\n", op, p, v);
  }
  m->insts++;
}

static void use_cells(Maker *m) {
  static const char *const verbs[] = {"activate", "is_active", "deactivate"};
  if (!m->is_sparse) return;
  const char *verb = verbs[pick(m, m->in_body ? 2 : 3)];
  int i = value(m, I32), j = value(m, I32), level = 2 + (int)pick(m, 2);
  if (verb[0] == 'i') {
    line(m, "%%v%d: bool = is_active l%d %%v%d, %%v%d\n", m->next, level, i, j);
    show(m, BOOLEAN);
  } else {
    line(m, "%s l%d %%v%d, %%v%d\n", verb, level, i, j);
  }
}

/* -- variables --------------------------------------------------------------------------------- */

static void use_variable(Maker *m) {
  int count = m->var_count - m->first_var;
  if (count < 3 && m->var_count < MOST_VARS && pick(m, 3) == 0) {
    Var var = {m->next++, (MakeType)pick(m, TYPES)};
    line(m, "%%v%d: %s = var\n", var.name, type_names[var.type]);
    m->vars[m->var_count++] = var;
  } else if (count) {
    Var var = m->vars[m->first_var + (int)pick(m, (unsigned)count)];
    if (pick(m, 2)) line(m, "set %%v%d, %%v%d\n", var.name, value(m, var.type));
    else unary(m, "get", var.type, var.name);
  }
  m->insts++;
}

/* -- regions ----------------------------------------------------------------------------------- */

static void statements(Maker *m, int count);

typedef struct Scope {
  int counts[TYPES], vars;
} Scope;

static Scope enter(Maker *m) {
  Scope scope = {.vars = m->var_count};
  for (int t = 0; t < TYPES; t++) scope.counts[t] = m->visible[t].count;
  m->depth++;
  return scope;
}

static void leave(Maker *m, const Scope *scope) {
  for (int t = 0; t < TYPES; t++) m->visible[t].count = scope->counts[t];
  m->var_count = scope->vars;
  m->depth--;
}

static void make_if(Maker *m) {
  line(m, "if %%v%d {\n", value(m, BOOLEAN));
  Scope scope = enter(m);
  statements(m, 1 + (int)pick(m, 3));
  if (m->in_body && pick(m, 6) == 0) line(m, "continue %d\n", m->loops);
  leave(m, &scope);
  if (pick(m, 2)) {
    line(m, "} else {\n");
    scope = enter(m);
    statements(m, 1 + (int)pick(m, 2));
    leave(m, &scope);
  }
  line(m, "}\n");
}

static void make_for(Maker *m) {
  static const char *const bounds[][3] = {
      {"0", "3", "1"}, {"-1", "1", "1"}, {"4", "0", "-2"}, {"2", "1", "1"}, {"0", "11", "3"}};
  int first = m->next;
  const char *const *own = CHOOSE(m, bounds);
  for (int k = 0; k < 3; k++) line(m, "%%v%d: i32 = const %s\n", m->next++, own[k]);
  line(m, "for %%v%d, %%v%d, %%v%d (%%v%d: i32) {\n", first, first + 1, first + 2, m->next);
  Scope scope = enter(m);
  show(m, I32);
  m->loops++;
  statements(m, 1 + (int)pick(m, 4));
  m->loops--;
  leave(m, &scope);
  line(m, "}\n");
}

static void choose_roles(Maker *m, int rank, bool is_sparse) {
  for (int f = 0; f < FIELDS; f++) {
    m->roles[f] = (Role)pick(m, ROLES);
    m->ops[f] = (int)pick(m, 6);
    bool is_home = fields[f].rank == rank && fields[f].is_sparse == is_sparse;
    if (m->roles[f] == OWN && !is_home) m->roles[f] = READ;
  }
}

static const char *const reduced_ops[] = {"add", "min", "max", "bxor", "bor", "band"};

static void make_parallel(Maker *m) {
  bool is_sparse = m->is_sparse && pick(m, 2);
  int rank = is_sparse ? 2 : 1 + (int)pick(m, 2);
  static const int extents[] = {24, 6, 5};
  int bounds[4], reduced = m->next++;
  MakeType reduced_type = pick(m, 2) ? I32 : I64;
  const char *op = CHOOSE(m, reduced_ops);
  line(m, "%%v%d: %s = var\n", reduced, type_names[reduced_type]);
  bool is_active = is_sparse || pick(m, 3) == 0;
  for (int k = 0; k < 2 * rank && !is_active; k++) {
    int extent = extents[rank == 1 ? 0 : 1 + k / 2];
    int at = k % 2 ? extent - (int)pick(m, 3) + (pick(m, 8) == 0 ? 2 : 0) : (int)pick(m, 3) - 1;
    line(m, "%%v%d: i32 = const %d\n", bounds[k] = m->next++, at < 0 ? 0 : at);
  }
  if (is_active) line(m, "active l%d (", is_sparse ? 2 : rank - 1);
  else line(m, "range ");
  for (int k = 0; k < 2 * rank && !is_active; k++) line(m, k ? ", %%v%d" : "%%v%d", bounds[k]);
  if (!is_active) line(m, " (");
  Scope scope = enter(m);
  for (int k = 0; k < rank; k++) {
    line(m, k ? ", %%v%d: i32" : "%%v%d: i32", m->next);
    m->own[k] = show(m, I32);
  }
  line(m, ") {\n");
  int vars = m->first_var, loops = m->loops;
  m->in_body = true, m->rank = rank, m->first_var = m->var_count, m->loops = 0;
  choose_roles(m, rank, is_sparse);
  statements(m, 2 + (int)pick(m, 12));
  if (pick(m, 2)) line(m, "reduce %s %%v%d, %%v%d\n", op, reduced, value(m, reduced_type));
  m->in_body = false, m->first_var = vars, m->loops = loops;
  leave(m, &scope);
  line(m, "}\n");
  unary(m, "get", reduced_type, reduced);
}

static void statement(Maker *m) {
  switch (pick(m, 12)) {
  case 0:
  case 1:
  case 2: compute(m, (MakeType)pick(m, TYPES)); break;
  case 3:
  case 4: load(m); break;
  case 5:
  case 6: write(m); break;
  case 7: use_variable(m); break;
  case 8:
    if (m->depth < MOST_DEPTH) make_if(m);
    break;
  case 9:
    if (m->depth < MOST_DEPTH) make_for(m);
    break;
  case 10: use_cells(m); break;
  default:
    if (!m->in_body && m->depth < 2) make_parallel(m);
    else write(m);
  }
}

static void statements(Maker *m, int count) {
  for (int k = 0; k < count && m->insts < MOST_INSTS; k++) statement(m);
}

const char *ir_make(Scratch *scratch, const uint8_t *data, size_t size, bool is_sparse) {
  StrBuf out;
  strbuf_init(&out, scratch);
  Maker m = {.out = &out, .data = data, .left = size, .is_sparse = is_sparse};
  strbuf_text(&out, header);
  line(&m, "host {\n%%v0: i32 = arg 0\n");
  show(&m, I32);
  line(&m, "%%v1: f32 = arg 1\n");
  show(&m, F32);
  make_parallel(&m);
  while (m.left && m.insts < MOST_INSTS) statement(&m);
  line(&m, "}\n");
  return strbuf_end(&out);
}
