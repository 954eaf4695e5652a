/* trace.c - see trace.h. The two networks run on a tape that knows only sizes: an operation
 * allocates its result and keeps what its gradient needs; going back, gradients are allocated and
 * kept blocks are freed. */
#include "trace.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

/* -- events ------------------------------------------------------------------------------------ */

static void add(Trace *trace, TraceEvent event) {
  if (trace->count == trace->capacity) {
    trace->capacity = trace->capacity ? 2 * trace->capacity : 4096;
    trace->events = realloc(trace->events, sizeof event * (size_t)trace->capacity);
    if (!trace->events) abort();
  }
  trace->events[trace->count++] = event;
}

static int32_t take(Trace *trace, uint64_t bytes) {
  add(trace, (TraceEvent){TRACE_TAKE, trace->blocks, bytes});
  trace->live += bytes;
  if (trace->live > trace->peak_live) trace->peak_live = trace->live;
  return trace->blocks++;
}

static void give(Trace *trace, int32_t id, uint64_t bytes) {
  add(trace, (TraceEvent){TRACE_GIVE, id, bytes});
  trace->live -= bytes;
}

static void end_kernel(Trace *trace) { add(trace, (TraceEvent){.kind = TRACE_KERNEL}); }

void trace_free(Trace *trace) {
  free(trace->events);
  *trace = (Trace){0};
}

/* Numbers that look random: the same on every machine. */
static double draw(uint64_t *state) {
  *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return ((double)(*state >> 11) + 0.5) / 9007199254740992.0;
}

/* -- the tape ---------------------------------------------------------------------------------- */

typedef struct Tensor {
  int32_t id, holders;
  uint64_t bytes;
  struct Tensor *gradient;
  bool is_given; /* from outside: it has no gradient */
} Tensor;

typedef struct Node { /* out = f(in[0], in[1]) */
  Tensor *out, *in[2], *kept[2];
  int temporaries; /* of the size of `out`, in the gradient of in[1] */
} Node;

enum { MOST_TENSORS = 4096, MOST_NODES = 2048, MOST_PARAMETERS = 128 };

typedef struct Tape {
  Trace *trace;
  Tensor tensors[MOST_TENSORS];
  Node nodes[MOST_NODES];
  int tensor_count, node_count;
  Tensor parameters[MOST_PARAMETERS], first_moments[MOST_PARAMETERS],
      second_moments[MOST_PARAMETERS];
  int parameter_count;
} Tape;

static Tensor *make(Tape *tape, uint64_t bytes) {
  if (tape->tensor_count == MOST_TENSORS) abort();
  Tensor *tensor = &tape->tensors[tape->tensor_count++];
  *tensor = (Tensor){take(tape->trace, bytes), 1, bytes, NULL, false};
  return tensor;
}

static Tensor *make_given(Tape *tape, uint64_t bytes) {
  Tensor *tensor = make(tape, bytes);
  tensor->is_given = true;
  return tensor;
}

static void drop(Tape *tape, Tensor *tensor) {
  if (tensor && !--tensor->holders) give(tape->trace, tensor->id, tensor->bytes);
}

static Tensor *keep(Tensor *tensor) {
  tensor->holders++;
  return tensor;
}

static Node *note(Tape *tape, Tensor *out, Tensor *a, Tensor *b) {
  if (tape->node_count == MOST_NODES) abort();
  Node *node = &tape->nodes[tape->node_count++];
  *node = (Node){.out = out, .in = {a, b}};
  end_kernel(tape->trace);
  return node;
}

static bool is_parameter(const Tape *tape, const Tensor *tensor) {
  return tensor >= tape->parameters && tensor < tape->parameters + MOST_PARAMETERS;
}

enum { KEEPS_NONE = 0, KEEPS_A = 1, KEEPS_B = 2, KEEPS_OUT = 4 };

/* An operation that reuses its operand's memory, unless that is a parameter. */
static Tensor *apply(Tape *tape, uint64_t bytes, Tensor *a, Tensor *b, int keeps) {
  /* values that nothing else needs are changed in place */
  bool in_place =
      a->bytes == bytes && a->holders == 1 && !(keeps & KEEPS_A) && !is_parameter(tape, a);
  Tensor *out;
  if (in_place) {
    out = &tape->tensors[tape->tensor_count++];
    *out = (Tensor){a->id, 1, bytes, NULL, false};
    a->holders = 0;
  } else {
    out = make(tape, bytes);
  }
  Node *node = note(tape, out, a, b);
  if (keeps & KEEPS_A) node->kept[0] = keep(a);
  if (b && (keeps & KEEPS_B)) node->kept[1] = keep(b);
  if (keeps & KEEPS_OUT) node->kept[0] = keep(out);
  if (!in_place && !is_parameter(tape, a)) drop(tape, a);
  if (b && !is_parameter(tape, b)) drop(tape, b);
  return out;
}

static void add_gradient(Tape *tape, Tensor *tensor, Tensor *gradient) {
  if (!tensor->gradient) {
    tensor->gradient = gradient;
    return;
  }
  end_kernel(tape->trace); /* in place */
  drop(tape, gradient);
}

/* Of one input; `gradient` is used up by the last. */
static void go_back_to(Tape *tape, const Node *node, int k, Tensor *gradient) {
  Tensor *in = node->in[k];
  for (int t = 0; k == 1 && t < node->temporaries; t++) drop(tape, make(tape, node->out->bytes));
  bool is_last = k == 1 || !node->in[1];
  if (in->is_given) {
    if (is_last) drop(tape, gradient);
    return;
  }
  if (is_last && in->bytes == gradient->bytes) {
    end_kernel(tape->trace); /* in place */
    add_gradient(tape, in, gradient);
    return;
  }
  add_gradient(tape, in, make(tape, in->bytes));
  end_kernel(tape->trace);
  if (is_last) drop(tape, gradient);
}

static void go_back(Tape *tape, Tensor *loss) {
  add_gradient(tape, loss, make(tape, loss->bytes));
  drop(tape, loss);
  while (tape->node_count) {
    Node *node = &tape->nodes[--tape->node_count];
    Tensor *gradient = node->out->gradient;
    if (gradient && node->in[0]) go_back_to(tape, node, 0, gradient);
    if (gradient && node->in[1]) go_back_to(tape, node, 1, gradient);
    drop(tape, node->kept[0]);
    drop(tape, node->kept[1]);
  }
}

/* -- parameters, and Adam ---------------------------------------------------------------------- */

static Tensor *parameter(Tape *tape, uint64_t numbers) {
  int k = tape->parameter_count++;
  if (k == MOST_PARAMETERS) abort();
  Tensor *all[] = {&tape->parameters[k], &tape->first_moments[k], &tape->second_moments[k]};
  for (int i = 0; i < 3; i++)
    *all[i] = (Tensor){take(tape->trace, 4 * numbers), 1, 4 * numbers, NULL, false};
  return &tape->parameters[k];
}

/* The new value in a block of its own. */
static void renew(Tape *tape, Tensor *tensor) {
  int32_t old = tensor->id;
  tensor->id = take(tape->trace, tensor->bytes);
  end_kernel(tape->trace);
  give(tape->trace, old, tensor->bytes);
}

static void update(Tape *tape, int k) {
  Tensor *own = &tape->parameters[k], *gradient = own->gradient;
  own->gradient = NULL;
  if (!gradient) return;
  Tensor *decay = make(tape, own->bytes);
  end_kernel(tape->trace);
  drop(tape, decay); /* added to the gradient in place */
  renew(tape, &tape->first_moments[k]);
  Tensor *square = make(tape, own->bytes);
  end_kernel(tape->trace);
  renew(tape, &tape->second_moments[k]);
  drop(tape, square);
  Tensor *root = make(tape, own->bytes);
  end_kernel(tape->trace);
  renew(tape, own);
  drop(tape, root);
  drop(tape, gradient);
}

static void end_step(Tape *tape) {
  for (int k = 0; k < tape->parameter_count; k++) update(tape, k);
  tape->tensor_count = 0;
}

static Tape *begin(Trace *trace) {
  Tape *tape = calloc(1, sizeof *tape);
  if (!tape) abort();
  *trace = (Trace){0};
  tape->trace = trace;
  return tape;
}

/* -- layers ------------------------------------------------------------------------------------ */

static Tensor *gelu(Tape *tape, Tensor *x) {
  uint64_t bytes = x->bytes;
  Tensor *scaled = apply(tape, bytes, keep(x), NULL, KEEPS_NONE);
  Tensor *error = apply(tape, bytes, scaled, NULL, KEEPS_A);
  Tensor *more = apply(tape, bytes, error, NULL, KEEPS_NONE);
  Tensor *product = apply(tape, bytes, x, more, KEEPS_A | KEEPS_B);
  return apply(tape, bytes, product, NULL, KEEPS_NONE);
}

/* Over `rows` groups: batch normalisation and that of a layer alike. */
static Tensor *normalise(Tape *tape, Tensor *x, uint64_t rows, Tensor *scale, Tensor *shift) {
  uint64_t bytes = x->bytes;
  Tensor *mean = apply(tape, 4 * rows, keep(x), NULL, KEEPS_NONE);
  Tensor *centred = apply(tape, bytes, x, mean, KEEPS_NONE);
  Tensor *square = apply(tape, bytes, keep(centred), NULL, KEEPS_A);
  Tensor *variance = apply(tape, 4 * rows, square, NULL, KEEPS_NONE);
  Tensor *deviation = apply(tape, 4 * rows, variance, NULL, KEEPS_OUT);
  Tensor *unit = apply(tape, bytes, centred, deviation, KEEPS_A | KEEPS_B);
  Tensor *scaled = apply(tape, bytes, unit, scale, KEEPS_A | KEEPS_B);
  return apply(tape, bytes, scaled, shift, KEEPS_NONE);
}

static Tensor *linear(Tape *tape, Tensor *x, Tensor *weight, Tensor *bias, uint64_t numbers) {
  Tensor *product = apply(tape, 4 * numbers, x, weight, KEEPS_A | KEEPS_B);
  return apply(tape, 4 * numbers, product, bias, KEEPS_NONE);
}

/* -- static ------------------------------------------------------------------------------------ */

enum { IMAGES = 64, BLOCKS = 3, STATIC_STEPS = 40 };
static const int channels[] = {1, 8, 16, 24}, sides[] = {28, 26, 24, 22};

typedef struct ConvBlock {
  Tensor *weight, *bias, *scale, *shift;
} ConvBlock;

static Tensor *convolve(Tape *tape, const ConvBlock *block, int k, Tensor *x) {
  uint64_t pixels = (uint64_t)sides[k + 1] * (uint64_t)sides[k + 1];
  uint64_t numbers = IMAGES * (uint64_t)channels[k + 1] * pixels;
  Tensor *out = apply(tape, 4 * numbers, x, block->weight, KEEPS_A | KEEPS_B);
  tape->nodes[tape->node_count - 1].temporaries = 1;
  out = apply(tape, 4 * numbers, out, block->bias, KEEPS_NONE);
  out = normalise(tape, out, (uint64_t)channels[k + 1], block->scale, block->shift);
  return gelu(tape, out);
}

Trace trace_static(void) {
  Trace trace;
  Tape *tape = begin(&trace);
  ConvBlock blocks[BLOCKS];
  for (int k = 0; k < BLOCKS; k++) {
    uint64_t out = (uint64_t)channels[k + 1];
    blocks[k] = (ConvBlock){parameter(tape, 9 * (uint64_t)channels[k] * out), parameter(tape, out),
                            parameter(tape, out), parameter(tape, out)};
  }
  Tensor *first = parameter(tape, 11616 * 32), *first_bias = parameter(tape, 32);
  Tensor *second = parameter(tape, 32 * 10), *second_bias = parameter(tape, 10);
  for (int step = 0; step < STATIC_STEPS; step++) {
    if (step == 2) trace.warm = trace.count;
    Tensor *x = make_given(tape, 4 * IMAGES * 28 * 28), *labels = make_given(tape, 8 * IMAGES);
    for (int k = 0; k < BLOCKS; k++) x = convolve(tape, &blocks[k], k, x);
    x = gelu(tape, linear(tape, x, first, first_bias, IMAGES * 32));
    x = linear(tape, x, second, second_bias, IMAGES * 10);
    Tensor *chances = apply(tape, x->bytes, x, NULL, KEEPS_OUT);
    Tensor *picked = apply(tape, 4 * IMAGES, chances, labels, KEEPS_B);
    go_back(tape, apply(tape, 4, picked, NULL, KEEPS_NONE));
    end_step(tape);
  }
  free(tape);
  return trace;
}

/* -- dynamic ----------------------------------------------------------------------------------- */

enum {
  TEXTS = 32,
  WIDTH = 256,
  INNER = 1024,
  HEADS = 8,
  LAYERS = 4,
  WORDS = 28996,
  CLASSES = 4,
  LONGEST = 256,
  DYNAMIC_STEPS = 60
};

typedef struct Layer {
  Tensor *weights[6], *biases[6]; /* query, key, value, out, in and out of the inner layer */
  Tensor *scales[2], *shifts[2];
} Layer;

static Layer add_layer(Tape *tape) {
  Layer layer;
  for (int k = 0; k < 6; k++) {
    layer.weights[k] = parameter(tape, WIDTH * (k < 4 ? WIDTH : INNER));
    layer.biases[k] = parameter(tape, k == 4 ? INNER : WIDTH);
  }
  for (int k = 0; k < 2; k++) {
    layer.scales[k] = parameter(tape, WIDTH);
    layer.shifts[k] = parameter(tape, WIDTH);
  }
  return layer;
}

/* The longest of a batch: their logarithms are normal. */
static uint64_t draw_length(uint64_t *state) {
  double most = 0;
  for (int k = 0; k < TEXTS; k++) {
    double normal = sqrt(-2 * log(draw(state))) * cos(6.283185307179586 * draw(state));
    double length = exp(3.5 + 0.45 * normal);
    if (length > most) most = length;
  }
  uint64_t length = (uint64_t)most + 1;
  return length < LONGEST ? length : LONGEST;
}

static Tensor *drop_out(Tape *tape, Tensor *x) {
  Tensor *mask = make_given(tape, x->bytes);
  return apply(tape, x->bytes, x, mask, KEEPS_B);
}

static Tensor *attend(Tape *tape, const Layer *layer, Tensor *x, uint64_t length) {
  uint64_t numbers = TEXTS * length * WIDTH, scores = 4 * TEXTS * HEADS * length * length;
  Tensor *parts[3];
  for (int k = 0; k < 3; k++)
    parts[k] = linear(tape, keep(x), layer->weights[k], layer->biases[k], numbers);
  drop(tape, x);
  Tensor *score = apply(tape, scores, parts[0], parts[1], KEEPS_A | KEEPS_B);
  score = apply(tape, scores, score, NULL, KEEPS_NONE);
  Tensor *most = apply(tape, scores / length, keep(score), NULL, KEEPS_NONE);
  score = apply(tape, scores, score, most, KEEPS_NONE);
  Tensor *power = apply(tape, scores, score, NULL, KEEPS_OUT);
  Tensor *sum = apply(tape, scores / length, keep(power), NULL, KEEPS_NONE);
  Tensor *weight = drop_out(tape, apply(tape, scores, power, sum, KEEPS_A | KEEPS_B));
  Tensor *out = apply(tape, 4 * numbers, weight, parts[2], KEEPS_A | KEEPS_B);
  return linear(tape, out, layer->weights[3], layer->biases[3], numbers);
}

static Tensor *run_layer(Tape *tape, const Layer *layer, Tensor *x, uint64_t length) {
  uint64_t rows = TEXTS * length;
  Tensor *beside = drop_out(tape, attend(tape, layer, keep(x), length));
  x = apply(tape, x->bytes, x, beside, KEEPS_NONE);
  x = normalise(tape, x, rows, layer->scales[0], layer->shifts[0]);
  beside = linear(tape, keep(x), layer->weights[4], layer->biases[4], rows * INNER);
  beside = drop_out(tape, gelu(tape, beside));
  beside = linear(tape, beside, layer->weights[5], layer->biases[5], rows * WIDTH);
  x = apply(tape, x->bytes, x, drop_out(tape, beside), KEEPS_NONE);
  return normalise(tape, x, rows, layer->scales[1], layer->shifts[1]);
}

Trace trace_dynamic(void) {
  Trace trace;
  Tape *tape = begin(&trace);
  uint64_t state = 7;
  Layer layers[LAYERS];
  Tensor *words = parameter(tape, WORDS * WIDTH), *places = parameter(tape, LONGEST * WIDTH);
  for (int k = 0; k < LAYERS; k++) layers[k] = add_layer(tape);
  Tensor *last = parameter(tape, WIDTH * CLASSES), *last_bias = parameter(tape, CLASSES);
  for (int step = 0; step < DYNAMIC_STEPS; step++) {
    if (step == 2) trace.warm = trace.count;
    uint64_t length = draw_length(&state), numbers = TEXTS * length * WIDTH;
    Tensor *tokens = make_given(tape, 8 * TEXTS * length);
    Tensor *order = make_given(tape, 8 * TEXTS * length);
    Tensor *x = apply(tape, 4 * numbers, words, tokens, KEEPS_B);
    Tensor *place = apply(tape, 4 * numbers, places, order, KEEPS_B);
    x = apply(tape, 4 * numbers, x, place, KEEPS_NONE);
    for (int k = 0; k < LAYERS; k++) x = run_layer(tape, &layers[k], x, length);
    x = linear(tape, x, last, last_bias, TEXTS * length * CLASSES);
    Tensor *chances = apply(tape, 4 * TEXTS * CLASSES, x, NULL, KEEPS_OUT);
    go_back(tape, apply(tape, 4, chances, NULL, KEEPS_NONE));
    end_step(tape);
  }
  free(tape);
  return trace;
}

/* -- our own ----------------------------------------------------------------------------------- */

enum { CHUNKS = 4096, GROWTH_STEPS = 64 };

Trace trace_growth(void) {
  Trace trace = {0};
  int32_t ids[CHUNKS];
  uint64_t bytes[CHUNKS], state = 11;
  int count = 0;
  for (int step = 0; step < GROWTH_STEPS; step++) {
    if (step == 2) trace.warm = trace.count;
    int wanted = (int)(CHUNKS * 0.5 * (1 + sin(step * 0.4)));
    while (count < wanted) {
      bytes[count] = (uint64_t)4096 << (int)(draw(&state) * 5);
      ids[count] = take(&trace, bytes[count]);
      count++;
    }
    while (count > wanted) {
      int k = (int)(draw(&state) * count);
      give(&trace, ids[k], bytes[k]);
      ids[k] = ids[--count];
      bytes[k] = bytes[count];
    }
    end_kernel(&trace);
  }
  while (count--) give(&trace, ids[count], bytes[count]);
  return trace;
}

Trace trace_halo(void) {
  enum { SIDE = 128, FIELDS = 5, STEPS = 200 };
  Trace trace = {0};
  const uint64_t volume = 8 * SIDE * SIDE * SIDE, face = 8 * SIDE * SIDE;
  int32_t now[FIELDS], next[FIELDS], faces[6];
  for (int k = 0; k < FIELDS; k++) now[k] = take(&trace, volume);
  for (int step = 0; step < STEPS; step++) {
    if (step == 2) trace.warm = trace.count;
    for (int k = 0; k < FIELDS; k++) {
      for (int f = 0; f < 6; f++) faces[f] = take(&trace, face);
      next[k] = take(&trace, volume);
      end_kernel(&trace);
      for (int f = 0; f < 6; f++) give(&trace, faces[f], face);
    }
    for (int k = 0; k < FIELDS; k++) {
      give(&trace, now[k], volume);
      now[k] = next[k];
    }
  }
  for (int k = 0; k < FIELDS; k++) give(&trace, now[k], volume);
  return trace;
}
