/* shared_lookups.c - lets accesses around one computed place share the look-ups of the nodes that
 * contain them, as a stencil around a particle's cell does.
 *
 *   x[b][c], x[b][c + 1], x[b + 1][c] ..      leaves of (b, c), (b + 2, c), (b, c + 2), (b + 2, c +
 *   .. x[b + 2][c + 2]                  =>    2) once; each access: its leaf by one comparison
 *                                             and one select per axis, then its place in the leaf
 *
 * A group is a set of accesses in one region, without an exit between them, to one level, whose
 * indices are one base per axis plus constants. If their spread is at most a node's cells, they are
 * in at most two nodes along each axis, so the corner nodes serve all of them. Nodes are found, or
 * ensured, at the first access: a group that ensures must write in all of its corners, so that no
 * other node is activated. The set of nodes must not change meanwhile: a group that reads requires
 * a task that activates nothing in the tree, and there are no groups if cells are deactivated.
 * Decision D-pass-12. */
#include "base/bits.h"
#include "pass/address/lower_places.h"
#include "pass/analysis/ranges.h"

/* The axes of a group: each one doubles the number of corners, the nodes that it may touch. */
enum { MOST_AXES = 3, MOST_CORNERS = 1 << MOST_AXES };

struct AccessGroup {
  int32_t tree, field;    /* of its first place */
  const SNode *of, *node; /* the level of its places, and that of the nodes */
  bool ensures, is_private;
  const IrInst *base[MOST_AXES];
  Type type[MOST_AXES]; /* in which indices are computed */
  int64_t low[MOST_AXES], high[MOST_AXES];
  int places;       /* of `field` */
  unsigned corners; /* set of corners that contain a place; numbered by bits of axes */
  /* set at the first access; by corner, bit k of its number: the high end of axis k */
  IrInst *nodes[MOST_CORNERS];
  IrInst *lowest[MOST_AXES]; /* indices of corner 0 */
};

/* -- which accesses ---------------------------------------------------------------------------- */

static bool is_exact(const IndexRange *range) {
  return range->known && range->base && range->low == range->high;
}

/* Can the level have groups: do only slots lead to the node, and are all its cells active with
 * it? */
static bool can_share(const SNode *of) {
  const SNode *node = snode_node_level(of);
  if (!node || of->rank > MOST_AXES || snode_is_masked(of, NULL)) return false;
  for (const SNode *at = of; at; at = at->parent)
    if (snode_has(at, SNODE_KEYED) || snode_has_lists(at)) return false;
  for (int k = 0; k < of->rank; k++)
    if (!is_power_of_two((uint64_t)snode_step(node, of)->weight[k])) return false;
  return true;
}

static bool is_eligible(const Lower *l, const IrInst *access) {
  const IrInst *place = access->operands[0];
  if (!rewrite_is_access(access->op) || place->op != IR_PLACE || !place->in_bounds ||
      place->in_visited_node)
    return false;
  const IrField *field = &l->kernel->fields.items[place->field];
  if (field->array >= 0 || !can_share(field->node) || l->loses[field->tree]) return false;
  bool ensures = rewrite_is_write(access->op) && !place->active;
  return ensures || !l->grows[field->tree];
}

static bool is_same_group(const AccessGroup *group, const AccessGroup *to) {
  if (group->tree != to->tree || group->of != to->of || group->ensures != to->ensures ||
      group->is_private != to->is_private)
    return false;
  for (int k = 0; k < group->of->rank; k++)
    if (group->base[k] != to->base[k] || !type_equal(group->type[k], to->type[k])) return false;
  return true;
}

/* The group of this single access. */
static bool group_of_one(const Lower *l, const IrInst *access, AccessGroup *group) {
  const IrInst *place = access->operands[0];
  const IrField *field = &l->kernel->fields.items[place->field];
  *group = (AccessGroup){.tree = field->tree,
                         .field = place->field,
                         .of = field->node,
                         .node = snode_node_level(field->node),
                         .ensures = rewrite_is_write(access->op) && !place->active,
                         .is_private = access->private_copy,
                         .places = 1};
  for (int k = 0; k < field->node->rank; k++) {
    IndexRange range = ranges_of(place->operands[k]);
    if (!is_exact(&range)) return false;
    group->base[k] = range.base;
    group->type[k] = place->operands[k]->type;
    group->low[k] = group->high[k] = range.low;
  }
  return true;
}

static void widen_group(AccessGroup *to, const AccessGroup *single) {
  DEBUG_ASSERT(is_same_group(to, single), "both are around one base");
  for (int k = 0; k < to->of->rank; k++) {
    to->low[k] = min_i64(to->low[k], single->low[k]);
    to->high[k] = max_i64(to->high[k], single->high[k]);
  }
  to->places += single->field == to->field;
}

/* -- collecting -------------------------------------------------------------------------------- */

typedef struct Member {
  const IrInst *place;
  AccessGroup single;
  int group;
} Member;
typedef struct GroupCollector {
  Lower *l;
  VEC(AccessGroup *) groups; /* since the last exit */
  VEC(Member) members;
} GroupCollector;

static void add_member(GroupCollector *t, const IrInst *access) {
  Member member = {.place = access->operands[0]};
  for (int m = 0; m < t->members.count; m++)
    if (t->members.items[m].place == member.place &&
        t->members.items[m].single.ensures ==
            (rewrite_is_write(access->op) && !member.place->active))
      return;
  if (!group_of_one(t->l, access, &member.single)) return;
  Scratch *scratch = t->l->kernel->scratch;
  while (member.group < t->groups.count &&
         !is_same_group(t->groups.items[member.group], &member.single))
    member.group++;
  if (member.group == t->groups.count) {
    AccessGroup *group = scratch_new(scratch, AccessGroup);
    *group = member.single;
    vec_push(scratch, &t->groups, group);
  } else {
    widen_group(t->groups.items[member.group], &member.single);
  }
  vec_push(scratch, &t->members, member);
}

static unsigned spread_axes(const AccessGroup *group) {
  unsigned axes = 0;
  for (int k = 0; k < group->of->rank; k++) axes |= (unsigned)(group->low[k] < group->high[k]) << k;
  return axes;
}

/* The bit of the corner at which the place is: 1 << bits of its axes; 0 if it is not at a
 * corner. */
static unsigned corner_of(const AccessGroup *group, const AccessGroup *single) {
  unsigned corner = 0;
  for (int k = 0; k < group->of->rank; k++) {
    if (single->low[k] == group->low[k]) continue;
    if (single->low[k] != group->high[k]) return 0;
    corner |= 1u << k;
  }
  return 1u << corner;
}

static bool is_worthwhile(const AccessGroup *group) {
  unsigned axes = spread_axes(group);
  int count = 1 << __builtin_popcount(axes);
  for (int k = 0; k < group->of->rank; k++) {
    int64_t cells = snode_step(group->node, group->of)->weight[k];
    if (group->high[k] - group->low[k] > cells) return false;
  }
  return 2 * group->places >= 3 * count &&
         (!group->ensures || __builtin_popcount(group->corners) == count);
}

static void close_groups(GroupCollector *t) {
  for (int m = 0; m < t->members.count; m++) {
    const Member *member = &t->members.items[m];
    AccessGroup *group = t->groups.items[member->group];
    group->corners |= corner_of(group, &member->single);
  }
  for (int m = 0; m < t->members.count; m++) {
    const Member *member = &t->members.items[m];
    AccessGroup *group = t->groups.items[member->group];
    if (is_worthwhile(group)) t->l->groups[2 * member->place->id + member->single.ensures] = group;
  }
  t->groups.count = t->members.count = 0;
}

void lookups_collect(Lower *l, const IrRegion *region) {
  GroupCollector t = {.l = l};
  if (!l->task || l->is_called) return;
  for (IrInst *inst = region->first; inst; inst = inst->next) {
    if (ir_has_exit(inst)) close_groups(&t);
    else if (inst->operand_count && is_eligible(l, inst)) add_member(&t, inst);
  }
  close_groups(&t);
}

void lookups_survey(Lower *l, const Effects *effects) {
  l->loses = scratch_array(l->kernel->scratch, bool, l->kernel->trees.count);
  l->grows = scratch_array(l->kernel->scratch, bool, l->kernel->trees.count);
  for (int i = 0; effects && i < effects->calls.count; i++) {
    const EffectCall *call = &effects->calls.items[i];
    if (!call->changes || call->tree < 0) continue;
    l->grows[call->tree] = true;
    if (call->changes & (EFFECT_DEACTIVATES | EFFECT_POPS)) l->loses[call->tree] = true;
  }
  for (int i = 0; effects && i < effects->accesses.count; i++) {
    const EffectAccess *access = &effects->accesses.items[i];
    const IrField *field = &l->kernel->fields.items[access->field];
    if (field->tree >= 0 && access->verb & EFFECT_WRITES && !access->place->inst->active)
      l->grows[field->tree] = true;
  }
}

/* -- addresses --------------------------------------------------------------------------------- */

static IrInst *index_at(IrBuilder *b, const AccessGroup *group, int axis, int64_t offset) {
  IrInst *base = ir_convert(b, (IrInst *)group->base[axis], group->type[axis]);
  return ir_plus(b, base, offset);
}

static void find_nodes(IrBuilder *b, AccessGroup *group) {
  DEBUG_ASSERT(is_worthwhile(group), "the group was chosen");
  unsigned axes = spread_axes(group);
  IrInst *ends[2][MOST_AXES], *indices[MOST_AXES];
  for (int k = 0; k < group->of->rank; k++) {
    ends[0][k] = group->lowest[k] = index_at(b, group, k, group->low[k]);
    ends[1][k] = index_at(b, group, k, group->high[k]);
  }
  for (unsigned corner = 0; corner < 1u << group->of->rank; corner++) {
    if (corner & ~axes) continue;
    for (int k = 0; k < group->of->rank; k++) indices[k] = ends[corner >> k & 1][k];
    Address a = address_from_root(b, group->tree, group->of, indices);
    a.ensures = group->ensures;
    if (group->is_private) address_private(&a);
    group->nodes[corner] = address_node(&a, group->node);
  }
}

/* Is the index in another node than the lowest? */
static IrInst *is_in_upper_node(IrBuilder *b, const AccessGroup *group, int axis, IrInst *index) {
  DEBUG_ASSERT(group->lowest[axis], "the nodes were found");
  int64_t cells = snode_step(group->node, group->of)->weight[axis];
  IrInst *shift = ir_const_int(b, index->type, log2_floor((uint64_t)cells));
  IrInst *here = ir_binary(b, IR_SHR, index, shift);
  return ir_binary(b, IR_NE, here, ir_binary(b, IR_SHR, group->lowest[axis], shift));
}

static IrInst *choose_node(IrBuilder *b, const AccessGroup *group, IrInst *const *indices,
                           const IndexRange *ranges) {
  IrInst *nodes[MOST_CORNERS];
  for (unsigned c = 0; c < MOST_CORNERS; c++) nodes[c] = group->nodes[c];
  unsigned axes = spread_axes(group);
  for (int k = group->of->rank - 1; k >= 0; k--) {
    if (!(axes >> k & 1) || ranges[k].low == group->low[k]) continue;
    IrInst *far = is_in_upper_node(b, group, k, indices[k]);
    for (unsigned c = 0; c < 1u << k; c++) /* later axes are done already: their bit is 0 */
      if (nodes[c]) nodes[c] = ir_select(b, far, nodes[c | 1u << k], nodes[c]);
  }
  return nodes[0];
}

IrInst *lookups_address(Lower *l, IrBuilder *b, const IrInst *access) {
  const IrInst *place = access->operands[0];
  bool ensures = rewrite_is_write(access->op) && !place->active;
  AccessGroup *group = place->id < l->group_ids ? l->groups[2 * place->id + ensures] : NULL;
  if (!group || group->is_private != access->private_copy) return NULL;
  if (!group->nodes[0]) {
    find_nodes(b, group);
    ir_note(l->kernel, access->line, "the accesses near one index share the look-ups of %d nodes",
            1 << __builtin_popcount(spread_axes(group)));
  }
  IndexRange ranges[MOST_AXES];
  IrInst *indices[MOST_AXES];
  for (int k = 0; k < group->of->rank; k++) {
    ranges[k] = ranges_of(place->operands[k]);
    indices[k] = index_at(b, group, k, ranges[k].low);
  }
  IrInst *node = choose_node(b, group, indices, ranges);
  Address a = address_in_node(b, group->tree, group->node, node, group->of);
  for (int k = 0; k < group->of->rank; k++) {
    int64_t cells = snode_step(group->node, group->of)->weight[k];
    if (cells == 1) continue;
    IrInst *in_node = ir_binary_const(b, IR_BAND, indices[k], cells - 1);
    a.index[k].value = ir_convert(b, in_node, TYPE(I64));
  }
  return places_element(l, &a, &l->kernel->fields.items[place->field]);
}
