/* stmt.c - statements: checks what may be declared, assigned, left and returned, and where. A local
 * of the host region that a parallel loop assigns is a reduction there. Such locals are marked
 * before the loop's body is resolved, so that a use before the assignment is found, too. */
#include "resolve/resolve.h"

static const char *name_of(Resolve *r, Local *local) { return sema_text(r->s, local->name); }

/* -- declarations ------------------------------------------------------------------------------ */

void resolve_declare(Resolve *r, Local *local) {
  local->loop = r->loop;
  local->is_declared = true;
  if (!local->annotation) return;
  local->is_annotated = local->has_shape = true;
  local->type = resolve_type(r, local->annotation, &local->shape);
}

static void declare_alias(Resolve *r, Local *local, Expr *value, Entity entity) {
  if (local->annotation) {
    sema_fail(r->s, value, RG_ERROR_TYPE_MISMATCH, NULL,
              "'%s' is declared %s, but this is not a number", name_of(r, local),
              sema_written(r->s, local->annotation));
    return;
  }
  if (local->is_assigned) {
    sema_fail(r->s, value, RG_ERROR_UNSUPPORTED, "declare another local for the other one",
              "'%s' refers to part of a field or to a name, so it cannot be assigned again",
              name_of(r, local));
    return;
  }
  local->is_alias = true;
  local->alias = entity;
}

/* The first value of a variable determines its shape. */
bool resolve_assign_shape(Resolve *r, Local *local, Expr *value) {
  if (r->s->failed) return false;
  if (local->has_shape)
    return shape_check_value(r, value, local->shape,
                             scratch_format(r->scratch, "'%s'", name_of(r, local)));
  local->has_shape = true;
  local->shape = shape_of(value);
  return true;
}

/* A local that is assigned again, or has an annotation, holds a value: `local n = x.shape`. */
static bool becomes_value(const Stmt *stmt, int i, const Entity *entity) {
  const Local *local = i < stmt->locals.count ? stmt->locals.items[i] : NULL;
  if (!local) return false;
  if (array_is_whole(entity)) return local->is_assigned || local->annotation;
  return entity->kind == ENTITY_SHAPE && (local_is_variable(local) || local->annotation);
}

/* Constructs the type in `local v: vec2 = {1, 2}`, also from the name of a table of values. */
static void construct_annotated(Resolve *r, Stmt *stmt, int k) {
  Expr *value = sema_strip(stmt->values.items[k]);
  const Local *local = k < stmt->locals.count ? stmt->locals.items[k] : NULL;
  if (!local || !local->annotation) return;
  bool is_table = value->kind == AST_TABLE;
  Entity entity = is_table ? (Entity){0} : resolve_expr(r, value);
  if (!is_table && !record_is(&entity)) return;
  Shape shape = {0};
  Type type = resolve_type(r, local->annotation, &shape);
  if (r->s->failed || type_is_scalar(shape)) return;
  Expr *made = struct_coerce(r, value, type_shaped(type, shape), name_of(r, stmt->locals.items[k]));
  if (made) stmt->values.items[k] = made;
}

/* A table is not a constant if it, or part of it, is assigned. */
static Entity resolve_initial(Resolve *r, const Stmt *stmt, int k) {
  Expr *value = stmt->values.items[k];
  const Local *local = k < stmt->locals.count ? stmt->locals.items[k] : NULL;
  return local && local_is_variable(local) ? record_value(r, value) : resolve_expr(r, value);
}

/* Values are resolved first, since they are outside the scope of the new names. */
void resolve_declaration(Resolve *r, Stmt *stmt) {
  VEC(Entity) entities = {0};
  maybe_begin(r, stmt);
  for (int i = 0; i < stmt->values.count && !r->s->failed; i++) construct_annotated(r, stmt, i);
  for (int i = 0; i < stmt->values.count && !r->s->failed; i++) {
    Entity entity = resolve_initial(r, stmt, i);
    if (becomes_value(stmt, i, &entity) && resolve_value(r, stmt->values.items[i]))
      entity = stmt->values.items[i]->entity;
    bool is_alias = entity_is_alias(&entity) && i < stmt->locals.count;
    if (!is_alias) resolve_value(r, stmt->values.items[i]);
    vec_push(r->scratch, &entities, entity);
  }
  resolve_spread(r, &stmt->values, stmt->locals.count);
  for (int i = entities.count; i < stmt->values.count; i++)
    vec_push(r->scratch, &entities, stmt->values.items[i]->entity);
  for (int i = 0; i < stmt->locals.count && !r->s->failed; i++) {
    Local *ast = stmt->locals.items[i];
    resolve_declare(r, ast);
    ast->declaration = stmt;
    if (i >= entities.count) continue;
    if (record_is(&entities.items[i]) && !ast->annotation)
      record_name(r, ast, entities.items[i].record);
    else if (entity_is_alias(&entities.items[i]))
      declare_alias(r, ast, stmt->values.items[i], entities.items[i]);
    else if (resolve_assign_shape(r, ast, stmt->values.items[i]) && !local_is_variable(ast))
      ast->initial = stmt->values.items[i];
  }
  row_declare_indices(r, &stmt->locals, &stmt->values);
  if (!r->s->failed) maybe_declare(r, &stmt->locals, &stmt->values);
  if (!r->s->failed) record_spread(r, &stmt->locals, &stmt->values);
}

void resolve_expand_locals(Resolve *r, Locals *locals, Exprs *values, ExpandLocal *expand) {
  Locals new_locals = {0};
  Exprs new_values = {0};
  bool has_new = false;
  for (int i = 0; i < locals->count || i < values->count; i++) {
    Local *local = i < locals->count ? locals->items[i] : NULL;
    Expr *value = i < values->count ? values->items[i] : NULL;
    bool is_expanded = local && value && expand(r, local, value, &new_locals, &new_values);
    if (r->s->failed) return;
    has_new |= is_expanded;
    if (local && !is_expanded) vec_push(r->scratch, &new_locals, local);
    if (value && !is_expanded) vec_push(r->scratch, &new_values, value);
  }
  if (!has_new) return;
  *locals = new_locals;
  *values = new_values;
}

/* A name for a function, which is expanded where it is called. */
static void resolve_local_function(Resolve *r, const AstStmt *ast, Stmt *stmt) {
  Local *local = stmt->locals.items[0];
  resolve_declare(r, local);
  local->is_alias = true;
  local->alias = resolve_inner_function(r, name_of(r, local), ast->function);
  if (local->is_assigned)
    sema_fail_pos(r->s, local->pos, local->name.length, RG_ERROR_UNSUPPORTED, "declare another one",
                  "'%s' is a function, so it cannot be assigned again", name_of(r, local));
  stmt->kind = AST_STMT_DO;
  stmt->locals.count = 0;
  vec_push(r->scratch, &stmt->bodies, ((Block){0}));
}

/* -- assignments ------------------------------------------------------------------------------- */

/* The local of which `p` `p.pos.x` `v[i]` are parts, or NULL. */
static Local *target_root(const Expr *e) {
  while (e->kind == AST_FIELD || e->kind == AST_INDEX || e->kind == AST_PAREN) e = e->left;
  return e->kind == AST_LOCAL ? e->local : NULL;
}

/* Is the target an element of a counted array in the local? Such an element is not part of the
 * local. */
static bool reaches_item(Resolve *r, const Expr *target, const Local *local) {
  if (local->is_alias || !local->has_shape || !type_is_struct(local->shape) ||
      !type_has_arrays(r->input->types, local->shape))
    return false;
  if (type_is_array(local->shape)) return true;
  Expr *copy = build_expr(r, target->ast);
  return resolve_expr(r, copy).kind != ENTITY_NONE && shape_root(copy)->entity.kind == ENTITY_ITEM;
}

/* The local of the host region that the target is, or is a part of; or NULL. */
static Local *reduced_local(Resolve *r, const Expr *target) {
  Local *local = r->loop ? target_root(target) : NULL;
  bool is_part = target->kind != AST_LOCAL;
  if (local && local->loop == 0 && is_part && reaches_item(r, target, local)) return NULL;
  return local && local->loop == 0 &&
                 !(is_part && (local->is_alias || local->is_loop_variable || local->is_const))
             ? local
             : NULL;
}

static bool may_reduce(IrUpdate op) {
  switch (op) {
  case IR_UPDATE_ADD:
  case IR_UPDATE_SUB:
  case IR_UPDATE_MUL:
  case IR_UPDATE_MIN:
  case IR_UPDATE_MAX:
  case IR_UPDATE_BAND:
  case IR_UPDATE_BOR:
  case IR_UPDATE_BXOR: return true;
  default: return false;
  }
}

/* A number applies to every number of the target. Matrix products depend on their order, so they
 * cannot reduce. */
static bool check_term_shape(Resolve *r, const Update *update, const Expr *term) {
  Shape to = shape_of(update->target), from = shape_of(term);
  if (update->op == IR_UPDATE_MUL && (type_is_matrix(to) || type_is_matrix(from)) &&
      !type_is_scalar(from))
    return sema_fail(r->s, term, RG_ERROR_REDUCTION, NULL,
                     "matrix products depend on their order, and iterations have none");
  return type_is_scalar(from) ||
         shape_check_value(r, term, to,
                           scratch_format(r->scratch, "'%s'", sema_source(r->s, update->target)));
}

/* A hint how to write what an assignment of a host region's local probably meant. */
static const char *reduction_hint(Resolve *r, const Stmt *stmt, const char *name) {
  AstExprKind value = stmt->values.count == 1 ? stmt->values.items[0]->kind : AST_NIL;
  if (value == AST_TRUE || value == AST_FALSE)
    return scratch_format(
        r->scratch,
        value == AST_TRUE
            ? "to find out whether any iteration meets a condition c, write %s = %s or c"
            : "to find out whether all iterations meet a condition c, write %s = %s and c",
        name, name);
  return scratch_format(
      r->scratch, "write %s = %s + .., or math.max(%s, ..), or declare a local inside the loop",
      name, name, name);
}

/* The member of its root that the target is, or is a part of. */
static Parts member_of(Expr *e) {
  e = sema_strip(e);
  if (e->entity.kind != ENTITY_PART) return (Parts){.count = type_parts(shape_of(e))};
  Parts of = member_of(e->left);
  const Parts *own = &e->entity.parts;
  return own->is_run ? (Parts){.count = own->count, .first = of.first + own->first} : of;
}

/* Is each number reduced with one operator? */
static bool check_operator(Resolve *r, Expr *target, const Local *local, IrUpdate op) {
  Parts part = local->reduced_by ? member_of(target) : (Parts){0};
  for (int k = part.first; k < part.first + part.count; k++) {
    if (local->reduced_by[k] != IR_UPDATE_COUNT && local->reduced_by[k] != op)
      return sema_fail(r->s, target, RG_ERROR_REDUCTION, "use two locals",
                       "'%s' is reduced with two operators in one loop", sema_source(r->s, target));
    local->reduced_by[k] = op;
  }
  return true;
}

static void resolve_part_target(Resolve *r, Expr *target, const Entity *part);

/* Resolves the target of a reduction, which may be a part although the local has no value here. */
static bool resolve_reduced(Resolve *r, Expr *target, Local *local) {
  if (target->kind == AST_LOCAL) {
    target->entity.shape = local->shape;
    return true;
  }
  int reduced_in = local->reduced_in;
  local->reduced_in = 0;
  Entity entity = resolve_expr(r, target);
  local->reduced_in = reduced_in;
  if (entity.kind == ENTITY_PART) resolve_part_target(r, target, &entity);
  return entity.kind == ENTITY_PART && !r->s->failed;
}

/* Structs have no arithmetic. */
static bool check_target_shape(Resolve *r, const Expr *target, AstOp op) {
  Shape unused;
  const char *who =
      op == AST_NO_OP ? "a reduction" : scratch_format(r->scratch, "'%s'", ast_op_text(op));
  return shape_join(r, target, shape_of(target), (Shape){0}, who, &unused);
}

static void resolve_reduction(Resolve *r, Stmt *stmt, Local *local) {
  Expr *target = stmt->targets.items[0];
  if (local->is_poisoned) sema_poison(r->s);
  const char *name = sema_source(r->s, target);
  Update *update = stmt->targets.count == 1 && !local->is_alias ? update_match(r, stmt) : NULL;
  if (!update) {
    sema_fail(r->s, target, RG_ERROR_REDUCTION, reduction_hint(r, stmt, name),
              "'%s' belongs to the whole kernel: a parallel loop can only reduce into it", name);
    sema_note(r->s, NULL, local->pos, local->name.length, "it is declared here, outside the loop");
    return;
  }
  if (!may_reduce(update->op)) {
    sema_fail(r->s, target, RG_ERROR_REDUCTION,
              "reductions are + - * math.min math.max & | ~ and or",
              "iterations have no order, so '%s' cannot be reduced with '%s'", name,
              ast_op_text(update_operator(update->op)));
    return;
  }
  IrUpdate op = update->op == IR_UPDATE_SUB ? IR_UPDATE_ADD : update->op;
  if (!resolve_reduced(r, target, local) || !check_operator(r, target, local, op) ||
      !check_target_shape(r, target, update_operator(update->op)))
    return;
  for (int i = 0; i < update->terms.count; i++)
    if (!resolve_value(r, update->terms.items[i].value) ||
        !check_term_shape(r, update, update->terms.items[i].value))
      return;
}

/* Is it in a local's table, like 't[1]' and 't.a'? */
static bool is_in_list(const Expr *target) {
  const Expr *at = target;
  while (at->kind == AST_INDEX || at->kind == AST_FIELD) at = at->left;
  return at != target && at->kind == AST_LOCAL && at->local && at->local->is_alias &&
         at->local->alias.kind == ENTITY_LIST;
}

static void fail_captured(Resolve *r, Expr *target) {
  Entity entity = target->kind == AST_GLOBAL ? resolve_expr(r, target) : (Entity){0};
  if (entity.kind == ENTITY_FIELD)
    sema_fail(r->s, target, RG_ERROR_NAME_ASSIGN,
              scratch_format(r->scratch, "an element is written as %s[i] = ..", entity.name),
              "'%s' is a field, which cannot be assigned as a whole", entity.name);
  sema_fail(r->s, target, RG_ERROR_NAME_ASSIGN,
            "return the value, or keep it in a field of shape {}: x[0] = ..",
            "'%s' is captured, and kernels cannot assign what they capture",
            sema_source(r->s, target));
}

static void fail_alias(Resolve *r, Expr *target) {
  if (!target->local && build_is_lost(r, target->ast->local))
    sema_fail(r->s, target, RG_ERROR_NAME_ASSIGN, "return the new value",
              "'%s' is declared around a function that calls itself, which cannot assign it",
              sema_text(r->s, target->text));
  else
    sema_fail(r->s, target, RG_ERROR_NAME_ASSIGN, NULL,
              "'%s' is not a number here, so it cannot be assigned", sema_text(r->s, target->text));
}

/* A slice is a value, like the result of any method, so it cannot be assigned. */
static bool check_no_slice(Resolve *r, Expr *target) {
  for (const Expr *at = target; at->entity.kind == ENTITY_PART; at = sema_strip(at->left))
    if (at->ast && at->ast->kind == AST_METHOD)
      return sema_fail(r->s, at, RG_ERROR_NAME_ASSIGN, "assign to the vector's numbers: v[k] = ..",
                       "'%s' cannot be assigned", sema_source(r->s, at));
  return true;
}

/* Parts of an element or a variable, each named once. */
static void resolve_part_target(Resolve *r, Expr *target, const Entity *part) {
  if (!check_no_slice(r, sema_strip(target))) return;
  const Expr *root = shape_root(target);
  EntityKind kind = root->entity.kind;
  bool is_loop_variable = root->kind == AST_LOCAL && root->local->is_loop_variable;
  if (kind == ENTITY_ELEMENT && !resolve_check_writable(r, target, &root->entity)) return;
  if (kind != ENTITY_ELEMENT && kind != ENTITY_ITEM && root->kind != AST_LOCAL) {
    sema_fail(r->s, target, RG_ERROR_NAME_ASSIGN, "assign to a local or to an element of a field",
              "'%s' cannot be assigned", sema_source(r->s, target));
  } else if (is_loop_variable || (root->kind == AST_LOCAL && root->local->is_const)) {
    sema_fail(r->s, target, RG_ERROR_NAME_ASSIGN, "declare a local for the new value",
              "'%s' does not change", name_of(r, root->local));
  }
  for (int i = 0; i < part->parts.count && !part->parts.is_run; i++)
    for (int k = 0; k < i; k++)
      if (part->parts.at[i] == part->parts.at[k])
        sema_fail(r->s, target, RG_ERROR_NAME_ASSIGN, NULL, "'%s' assigns a component twice",
                  sema_source(r->s, target));
}

bool resolve_check_writable(Resolve *r, Expr *e, const Entity *object) {
  if (!resolve_check_own(r, e, object)) return false;
  if (object->field.part)
    return sema_fail(r->s, e, RG_ERROR_NAME_ASSIGN, "write elements: bodies[i].vel = v",
                     "'%s' is one member of all elements, which is only read", object->name);
  if (!object->field.array || !object->field.array->of.is_constant) return true;
  return sema_fail(r->s, e, RG_ERROR_NAME_ASSIGN, "copy it: rg.array(rg.u8, #s):from_string(s)",
                   "'%s' holds the bytes of a string and is read-only", object->name);
}

/* In a local's table, `b[1]` may be a field, whose elements can be assigned. */
static bool is_element_in_list(Resolve *r, Expr *target) {
  for (Expr *at = target->left; is_in_list(at); at = at->left) {
    if (at->kind != AST_INDEX && at->kind != AST_FIELD) return false;
    EntityKind kind = resolve_expr(r, at).kind;
    if (kind == ENTITY_FIELD || kind == ENTITY_ELEMENT || r->s->failed) return true;
  }
  return false;
}

static void resolve_target(Resolve *r, Expr *target) {
  if (is_in_list(target) && !is_element_in_list(r, target)) {
    sema_fail(r->s, target, RG_ERROR_NAME_ASSIGN,
              "declare a table of values in the kernel: {0, 0, 0}; for many numbers, use an array, "
              "rg.zeros(rg.f32, n)",
              "this table is constant: '%s' cannot be assigned", sema_source(r->s, target));
    return;
  }
  bool is_field = target->kind == AST_FIELD && sema_strip(target->left)->kind != AST_GLOBAL &&
                  resolve_expr(r, target).kind == ENTITY_PART;
  if (target->kind == AST_GLOBAL || (target->kind == AST_FIELD && !is_field)) {
    fail_captured(r, target);
  } else if (target->kind == AST_LOCAL) {
    const Local *local = target->local;
    if (local && local->is_poisoned) sema_poison(r->s);
    if (!local || local->is_alias) fail_alias(r, target);
    else target->entity = (Entity){.kind = ENTITY_VALUE, .shape = local->shape};
  } else {
    Entity entity = resolve_expr(r, target);
    if (entity.kind == ENTITY_CONSTANT)
      sema_fail(r->s, target, RG_ERROR_NAME_ASSIGN, NULL, "a shape cannot be assigned");
    else if (entity.kind == ENTITY_PART) resolve_part_target(r, target, &entity);
    else if (entity.kind == ENTITY_ELEMENT) resolve_check_writable(r, target, &entity);
    else if (entity.kind != ENTITY_ELEMENT && entity.kind != ENTITY_ITEM &&
             resolve_value(r, target))
      fail_captured(r, target);
  }
}

/* The type of a target, if it is known here: of an element, an annotated local, or a part of
 * these. */
static bool find_target_type(const Expr *target, Type *type) {
  const Expr *at = sema_strip((Expr *)target);
  Type base = {0};
  while (at->entity.kind == ENTITY_PART && type_equal(at->entity.parts.type, base))
    at = sema_strip(at->left);
  if (at->entity.kind == ENTITY_PART) base = at->entity.parts.type;
  else if (at->entity.kind == ENTITY_ELEMENT) base = at->entity.field.type;
  else if (at->entity.kind == ENTITY_ITEM) base = at->entity.item.type;
  else if (at->kind == AST_LOCAL && at->local && at->local->is_annotated) base = at->local->type;
  if (type_equal(base, (Type){0})) return false;
  *type = type_shaped(base, shape_of(target));
  return true;
}

/* `x[i] = {mass = 2}`, `x[i].pos = {1, 2}` */
static void construct_assigned(Resolve *r, Stmt *stmt, int k) {
  Expr *target = stmt->targets.items[k], *value = sema_strip(stmt->values.items[k]);
  Type type;
  if (r->s->failed || type_is_scalar(shape_of(target)) || !find_target_type(target, &type)) return;
  Entity entity = value->kind == AST_TABLE ? (Entity){0} : resolve_expr(r, value);
  if (value->kind != AST_TABLE && !record_is(&entity)) return;
  Expr *made = struct_coerce(r, value, type, sema_source(r->s, target));
  if (made) stmt->values.items[k] = made;
}

/* `m *= a` of a matrix, which is not elementwise, becomes `m = m * a`. */
static void write_product(Resolve *r, Stmt *stmt) {
  Expr *target = stmt->targets.items[0], *value = stmt->values.items[0];
  if (!place_is_same(r, target, target)) {
    sema_fail(
        r->s, target, RG_ERROR_UNSUPPORTED, "keep the index in a local first",
        "'*=' with a matrix reads and writes its left side, whose index may differ each time");
    return;
  }
  Expr *product = scratch_new(r->scratch, Expr);
  *product = (Expr){.kind = AST_BINARY,
                    .op = AST_MUL,
                    .pos = target->pos,
                    .width = target->width,
                    .ast = target->ast,
                    .left = build_expr(r, target->ast),
                    .right = value};
  stmt->kind = AST_STMT_ASSIGN;
  stmt->values.items[0] = product;
  resolve_value(r, product);
}

static bool is_matrix_product(Resolve *r, const Stmt *stmt) {
  Shape to = shape_of(stmt->targets.items[0]), from = shape_of(stmt->values.items[0]);
  return stmt->kind == AST_STMT_COMPOUND && stmt->op == AST_MUL && !type_is_scalar(from) &&
         (type_is_matrix(to) || type_is_matrix(from));
}

/* A compound assigns `target op value`: one number applies to all. */
static void resolve_given(Resolve *r, Stmt *stmt, int k) {
  if (is_matrix_product(r, stmt)) write_product(r, stmt);
  Expr *target = stmt->targets.items[k], *value = stmt->values.items[k];
  Shape to = shape_of(target), from = shape_of(value);
  if (stmt->kind == AST_STMT_COMPOUND)
    (void)(!check_target_shape(r, target, stmt->op) || type_is_scalar(from) ||
           shape_check_value(r, value, to,
                             scratch_format(r->scratch, "'%s'", sema_source(r->s, target))));
  else if (target->kind == AST_LOCAL) resolve_assign_shape(r, target->local, value);
  else
    shape_check_value(r, value, to, scratch_format(r->scratch, "'%s'", sema_source(r->s, target)));
}

/* Marks that the loop reduces into the local, which therefore has no value inside the loop. */
static void mark_reduced(Resolve *r, Local *local, int loop) {
  int count = type_parts(local->shape);
  local->reduced_in = loop;
  local->reduced_by = scratch_array(r->scratch, IrUpdate, count);
  for (int n = 0; n < count; n++) local->reduced_by[n] = IR_UPDATE_COUNT;
}

/* Reductions in the loop's own text were marked when it began; this one is in a called function. */
static bool check_reduced(Resolve *r, Expr *target, Local *local) {
  if (local->reduced_in == r->loop) return true;
  if (local->read_in == r->loop)
    return sema_fail(r->s, target, RG_ERROR_REDUCTION, "copy it to another local before the loop",
                     "this parallel loop reads '%s', so a function that it calls cannot reduce "
                     "into it",
                     sema_text(r->s, local->name));
  mark_reduced(r, local, r->loop);
  return true;
}

/* The local at the root of a target's text, or NULL. */
static const AstLocal *written_root(const AstExpr *e) {
  while (e->kind == AST_FIELD || e->kind == AST_INDEX || e->kind == AST_PAREN) e = e->left;
  return e->kind == AST_LOCAL ? e->local : NULL;
}

/* Refuses an inner function that assigns variables of the outer one. */
static bool check_outer(Resolve *r, Expr *target) {
  Local *local = target_root(target);
  const AstLocal *name = local ? written_root(target->ast) : NULL;
  if (!name || !build_is_around(r, name)) return true;
  bool is_reduced = r->loop && local->loop == 0 && !local->is_alias;
  if (!is_reduced || (target->kind != AST_LOCAL && reaches_item(r, target, local))) return true;
  return check_reduced(r, target, local);
}

void resolve_assignment(Resolve *r, Stmt *stmt) {
  if (!maybe_assign(r, stmt) || !record_assign(r, stmt)) return;
  if (!stmt->targets.count) { /* a table without values */
    stmt->kind = AST_STMT_DO;
    vec_push(r->scratch, &stmt->bodies, (Block){0});
    return;
  }
  for (int i = 0; i < stmt->targets.count; i++)
    if (!check_outer(r, stmt->targets.items[i])) return;
  for (int i = 0; i < stmt->targets.count; i++) {
    Local *local = reduced_local(r, stmt->targets.items[i]);
    if (!local) continue;
    if (i == 0) resolve_reduction(r, stmt, local);
    else
      sema_fail(r->s, stmt->targets.items[i], RG_ERROR_REDUCTION, "give it its own statement",
                "'%s' belongs to the whole kernel: a parallel loop can only reduce into it",
                name_of(r, local));
    return;
  }
  for (int i = 0; i < stmt->targets.count; i++) resolve_target(r, stmt->targets.items[i]);
  for (int i = 0; i < stmt->values.count && i < stmt->targets.count; i++)
    construct_assigned(r, stmt, i);
  for (int i = 0; i < stmt->values.count; i++) resolve_value(r, stmt->values.items[i]);
  resolve_spread(r, &stmt->values, stmt->targets.count);
  for (int i = 0; i < stmt->values.count && i < stmt->targets.count && !r->s->failed; i++)
    resolve_given(r, stmt, i);
  if (stmt->targets.count > stmt->values.count)
    sema_fail(r->s, stmt->targets.items[stmt->values.count], RG_ERROR_CALL_COUNT, NULL,
              "there is no value for '%s'",
              sema_source(r->s, stmt->targets.items[stmt->values.count]));
  EntityKind kind = shape_root(stmt->targets.items[0])->entity.kind;
  if (!r->s->failed && r->loop && (kind == ENTITY_ELEMENT || kind == ENTITY_ITEM))
    update_match(r, stmt);
}

/* -- loops ------------------------------------------------------------------------------------- */

static void mark_reductions(Resolve *r, const AstBlock *block, int loop) {
  for (int i = 0; i < block->count; i++) {
    const AstStmt *stmt = block->items[i];
    for (int k = 0; k < stmt->targets.count; k++) {
      const AstLocal *target = written_root(stmt->targets.items[k]);
      Local *local = target ? build_find(r, target) : NULL;
      if (local && local->is_alias && record_is(&local->alias))
        local = record_reduced(r, stmt->targets.items[k]);
      if (!local || !local->is_declared || local->loop != 0 || local->is_alias) continue;
      bool is_whole = stmt->targets.items[k]->kind == AST_LOCAL;
      if (!is_whole && local->has_shape && type_has_arrays(r->input->types, local->shape)) continue;
      mark_reduced(r, local, loop);
    }
    for (int k = 0; k < stmt->bodies.count; k++) mark_reductions(r, &stmt->bodies.items[k], loop);
  }
}

static void resolve_body(Resolve *r, const AstStmt *ast, Stmt *stmt, bool is_parallel) {
  bool outer = r->breaks_parallel, in_iterator_body = r->in_iterator_body;
  int levels = r->break_levels;
  SerialLoop *around = r->serial_loops, here = {stmt, around};
  r->serial_loops = is_parallel ? NULL : &here;
  r->breaks_parallel = is_parallel;
  r->break_levels = 0;
  r->in_iterator_body = false;
  for (int i = 0; i < stmt->locals.count; i++) resolve_declare(r, stmt->locals.items[i]);
  resolve_block(r, &ast->bodies.items[0], &stmt->bodies.items[0]);
  r->in_iterator_body = in_iterator_body;
  r->break_levels = levels;
  r->breaks_parallel = outer;
  r->serial_loops = around;
}

/* The condition of a `while` or `repeat`, which is computed in each iteration. */
static void resolve_while_condition(Resolve *r, Stmt *stmt) {
  SerialLoop here = {stmt, r->serial_loops};
  r->serial_loops = &here;
  resolve_condition(r, stmt->values.items[0]);
  r->serial_loops = here.outer;
  sema_recover_head(r->s, stmt);
}

static void resolve_for_in(Resolve *r, const AstStmt *ast, Stmt *stmt) {
  if ((unroll_loop(r, ast, stmt) || iterator_loop(r, ast, stmt)) && !r->s->failed) return;
  if (!r->s->failed) resolve_head(r, stmt);
  if (sema_recover_head(r->s, stmt) || !stmt->head->is_parallel) {
    resolve_body(r, ast, stmt, false);
    return;
  }
  r->loop = stmt->head->number = ++r->loop_count;
  r->axis_count = stmt->head->axis_count ? stmt->head->axis_count : 1;
  r->random = &stmt->head->random;
  mark_reductions(r, &ast->bodies.items[0], r->loop);
  resolve_body(r, ast, stmt, true);
  r->random = &r->s->random;
  r->loop = r->axis_count = 0;
}

static void resolve_numeric_for(Resolve *r, const AstStmt *ast, Stmt *stmt) {
  for (int i = 0; i < stmt->values.count; i++) resolve_scalar(r, stmt->values.items[i]);
  double step;
  if (stmt->values.count == 3 && sema_is_constant(stmt->values.items[2], &step) && step == 0)
    sema_fail(r->s, stmt->values.items[2], RG_ERROR_LOOP, NULL, "the step of this loop is 0");
  sema_recover_head(r->s, stmt);
  resolve_body(r, ast, stmt, false);
}

/* -- exits ---------------------------------------------------------------------------------- */

enum { MOST_RESULTS = 200 }; /* a Lua function has 255 registers */

static const char *count_text(Resolve *r, int count) {
  return count == 0   ? "no value"
         : count == 1 ? "one value"
                      : scratch_format(r->scratch, "%d values", count);
}

/* Every return must have as many values as the first one, or as the declaration says. */
static void check_result_count(Resolve *r, Stmt *stmt) {
  int given = stmt->values.count, count = r->s->results.count;
  if (given == count || r->s->failed) return;
  if (r->s->has_result_types)
    sema_fail_pos(r->s, stmt->pos, stmt->width, RG_ERROR_RETURN, NULL,
                  "this 'return' has %s, and the kernel is declared to return %s",
                  count_text(r, given), count_text(r, count));
  if (!r->s->has_result_types) {
    sema_fail_pos(r->s, stmt->pos, stmt->width, RG_ERROR_RETURN,
                  "return the same number of values everywhere, or none",
                  "this 'return' has %s, and the one on line %d has %s", count_text(r, given),
                  r->first_return->pos.line, count_text(r, count));
    sema_note(r->s, NULL, r->first_return->pos, r->first_return->width, "it is here");
  }
}

static bool check_no_field(Resolve *r, Expr *e) {
  Entity entity = resolve_expr(r, e);
  if (entity.kind != ENTITY_FIELD || !entity.field.node || entity.field.index_count) return true;
  return sema_fail(
      r->s, e, RG_ERROR_RETURN,
      scratch_format(r->scratch, "return elements; Lua reads the field as it is: %s", entity.name),
      "a kernel cannot return the field '%s'", entity.name);
}

static void resolve_return(Resolve *r, Stmt *stmt) {
  Inline *in = r->s->frame;
  while (in && in->body_of) in = in->within;
  if (in) {
    resolve_inline_return(r, stmt, in);
    return;
  }
  if (r->loop) {
    sema_fail_pos(r->s, stmt->pos, stmt->width, RG_ERROR_RETURN, "'continue' ends one iteration",
                  "a parallel loop cannot be left by 'return'");
    return;
  }
  for (int i = 0; i < stmt->values.count; i++)
    if (check_no_field(r, stmt->values.items[i])) resolve_value(r, stmt->values.items[i]);
  if (r->s->failed || !iterator_leave(r, stmt, NULL)) return;
  resolve_spread(r, &stmt->values, INT32_MAX);
  if (stmt->values.count > MOST_RESULTS)
    sema_fail(r->s, stmt->values.items[MOST_RESULTS], RG_ERROR_UNSUPPORTED,
              "store the others in a field", "a kernel returns at most %d values", MOST_RESULTS);
  if (!r->first_return && !r->s->has_result_types)
    for (int i = 0; i < stmt->values.count && !r->s->failed; i++)
      vec_push(r->scratch, &r->s->results, (Result){.shape = shape_of(stmt->values.items[i])});
  if (!r->first_return) r->first_return = stmt;
  check_result_count(r, stmt);
  for (int i = 0; i < stmt->values.count && !r->s->failed; i++)
    shape_check_value(r, stmt->values.items[i], r->s->results.items[i].shape,
                      "the kernel's result");
}

static void resolve_break(Resolve *r, Stmt *stmt) {
  stmt->levels = r->break_levels;
  if (r->breaks_parallel)
    sema_fail_pos(
        r->s, stmt->pos, stmt->width, RG_ERROR_LOOP,
        "'continue' ends one iteration; ':serial()' after the range makes a loop that can be left",
        "a parallel loop cannot be left by 'break'");
}

/* -- statements -------------------------------------------------------------------------------- */

static void resolve_call_statement(Resolve *r, Expr *call) {
  const Expr *outer = r->statement;
  r->statement = call;
  Entity entity = resolve_expr(r, call);
  r->statement = outer;
  if (entity.kind != ENTITY_VOID && entity.kind != ENTITY_NONE) resolve_value(r, call);
}

static void resolve_if(Resolve *r, const AstStmt *ast, Stmt *stmt) {
  Arms arms = {0};
  for (int i = 0; i < ast->bodies.count; i++) vec_push(r->scratch, &arms, &ast->bodies.items[i]);
  static_arms(r, stmt, &arms);
  stmt->bodies.count = arms.count;
  for (int i = 0; i < arms.count; i++) {
    if (i < stmt->values.count) resolve_condition(r, stmt->values.items[i]);
    sema_recover_head(r->s, stmt);
    resolve_block(r, arms.items[i], &stmt->bodies.items[i]);
  }
}

static void refuse(Resolve *r, Stmt *stmt, const char *hint, const char *sentence) {
  sema_fail_pos(r->s, stmt->pos, stmt->width, RG_ERROR_UNSUPPORTED, hint, "%s", sentence);
}

static void resolve_stmt(Resolve *r, const AstStmt *ast, Stmt *stmt) {
  switch (stmt->kind) {
  case AST_STMT_LOCAL: resolve_declaration(r, stmt); break;
  case AST_STMT_ASSIGN:
  case AST_STMT_COMPOUND: resolve_assignment(r, stmt); break;
  case AST_STMT_CALL: resolve_call_statement(r, stmt->values.items[0]); break;
  case AST_STMT_DO: resolve_block(r, &ast->bodies.items[0], &stmt->bodies.items[0]); break;
  case AST_STMT_WHILE:
    resolve_while_condition(r, stmt);
    resolve_body(r, ast, stmt, false);
    break;
  case AST_STMT_REPEAT:
    resolve_body(r, ast, stmt, false);
    vec_push(r->scratch, &stmt->values, build_expr(r, ast->values.items[0]));
    resolve_while_condition(r, stmt);
    break;
  case AST_STMT_IF: resolve_if(r, ast, stmt); break;
  case AST_STMT_FOR: resolve_numeric_for(r, ast, stmt); break;
  case AST_STMT_FOR_IN: resolve_for_in(r, ast, stmt); break;
  case AST_STMT_RETURN: resolve_return(r, stmt); break;
  case AST_STMT_BREAK:
    if (r->in_iterator_body) iterator_exit(r, stmt);
    else resolve_break(r, stmt);
    break;
  case AST_STMT_CONTINUE:
    if (r->in_iterator_body) iterator_exit(r, stmt);
    break;
  case AST_STMT_LOCAL_FUNCTION: resolve_local_function(r, ast, stmt); break;
  case AST_STMT_FUNCTION:
    refuse(r, stmt, "write local function, or declare it before the kernel",
           "a kernel cannot assign functions");
    break;
  case AST_STMT_GOTO:
  case AST_STMT_LABEL:
    refuse(r, stmt, "use 'while', 'break' and 'continue'",
           "a kernel has no goto, except to a label that ends the innermost loop");
    break;
  }
}

/* Does the statement return in every launch: is it a `return`, or an `if` of which rg.static has
 * chosen an arm that ends in one? */
static bool returns_statically(const Stmt *stmt) {
  while (stmt->kind == AST_STMT_DO || (stmt->kind == AST_STMT_IF && !stmt->values.count)) {
    const Block *body = stmt->bodies.count ? &stmt->bodies.items[0] : NULL;
    if (!body || !body->count) return false;
    stmt = body->items[body->count - 1];
  }
  return stmt->kind == AST_STMT_RETURN;
}

bool resolve_block(Resolve *r, const AstBlock *from, Block *to) {
  for (int i = 0; i < from->count; i++) {
    Stmt *stmt = build_stmt(r, from->items[i]);
    vec_push(r->scratch, to, stmt);
    resolve_stmt(r, from->items[i], stmt);
    sema_recover(r->s, stmt);
    if (r->s->frame && returns_statically(stmt)) return false;
  }
  return true;
}

static void resolve_results(Resolve *r, const AstFunction *function) {
  r->s->has_result_types = function->results.count > 0;
  for (int i = 0; i < function->results.count && !r->s->failed; i++) {
    Result result = {0};
    result.ty = ty_of(resolve_type(r, function->results.items[i], &result.shape));
    vec_push(r->scratch, &r->s->results, result);
  }
}

static void prepare(Resolve *r, const AstFunction *function) {
  r->path_launch_arg = scratch_array(r->scratch, int, r->input->paths->count + 1);
  r->s->parameter_launch_arg = scratch_array(r->scratch, int, function->parameters.count + 1);
  map_init(&r->wanted, r->scratch);
  map_init(&r->library, r->scratch);
  map_init(&r->names, r->scratch);
  path_number_all(r);
  for (int i = 0; i < function->parameters.count; i++)
    vec_push(r->scratch, &r->s->parameters,
             default_parameter(r, function->parameters.items[i], &function->body));
}

void resolve_kernel(Sema *s) {
  Resolve resolve = {.s = s, .scratch = s->scratch, .input = s->input, .random = &s->random};
  Resolve *r = &resolve;
  const AstFunction *function = r->input->ast->function;
  prepare(r, function);
  if (function->has_varargs)
    sema_fail_pos(r->s, function->pos, 8, RG_ERROR_UNSUPPORTED, "name each parameter",
                  "kernels take no variable arguments");
  sema_recover_apart(r->s);
  for (int i = 0; i < function->parameters.count; i++) {
    resolve_parameter(r, i);
    if (sema_recover_apart(r->s)) r->s->parameters.items[i]->is_poisoned = true;
  }
  resolve_results(r, function);
  if (sema_recover_apart(r->s)) {
    r->s->has_result_types = false;
    r->s->results.count = 0;
  }
  resolve_function_body(r, function, &function->body, &r->s->body);
  recursion_resolve_bodies(r);
}
