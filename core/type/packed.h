/* packed.h - packed numbers: how a number of few bits is stored in a word that it shares with
 * others, and what it is computed as. The idea is QuanTaichi's (Hu et al. 2021).
 *
 *     int(b), uint(b)       an integer of b bits; what does not fit saturates
 *     fixed(b,low,high)     multiples of one step, 0 among them, from low to high; the nearest one
 *     float(e,f)            sign, e bits of exponent, f of fraction: as f32, but without infinities
 *                           and NaN; smaller numbers than the least become 0, larger ones saturate
 *     shared(e,f)           the numbers of a vector, each a sign and f bits, with one exponent
 *
 * The number 0 is all bits zero, as memory is zero before it is written. A NaN is stored as 0.
 * Everything here is also done by compiled kernels (pass/packed/codec.c) and by arch = "lua"
 * (lua/regolith/oracle/packed.lua), to the last bit. Decision D-type-03. */
#ifndef RG_TYPE_PACKED_H
#define RG_TYPE_PACKED_H

#include "base/error.h"
#include "type/type.h"

typedef enum PackedKind {
  PACKED_NONE, /* stored as it is */
  PACKED_INT,
  PACKED_UINT,
  PACKED_FIXED,
  PACKED_FLOAT,
  PACKED_SHARED
} PackedKind;

typedef struct Packed {
  PackedKind kind;
  int bits;               /* of one number in the word, without a shared exponent's */
  int exponent, fraction; /* FLOAT, SHARED: bits */
  double low, high;       /* FIXED: as declared */
  double step;            /* FIXED: distance of neighbours, a number of the type `inner` */
  double inverse;         /* FIXED: numbers times this are counts of steps */
  int64_t least, most;    /* INT, UINT, FIXED: ends of the stored integer; UINT of 64 bits: 0, -1 */
  /* the scalar type of the number; of integers a signed one, unless only an unsigned one has all */
  Type computed;
  Type inner; /* FIXED: the float type in which it is encoded and decoded */
} Packed;

enum { PACKED_TEXT = 100, PACKED_MOST_BITS = 64, PACKED_MOST_FIXED = 48 };

/* Does the text begin as the name of a packed type, or of a vector or matrix of one? */
bool packed_is_text(Str text);
/* Reads "fixed(10,-1,1)", "vec(3,int(5))", "mat(3,3,float(5,10))"; *whole is the type of values.
 * Fails with type.unknown, or argument, where the numbers are of no use. */
bool packed_read(Str text, Packed *packed, Type *whole, Error *err);
/* The name of the scalar type. */
const char *packed_text(const Packed *packed, char out[PACKED_TEXT]);

/* Ones for the bits of one number. */
uint64_t packed_mask(const Packed *packed);
/* A number, given as the bits of an element of the computed type, as it is stored; and back. Not of
 * a shared exponent. */
uint64_t packed_encode(const Packed *packed, uint64_t number);
uint64_t packed_decode(const Packed *packed, uint64_t stored);
/* The same for all numbers that share an exponent. */
void packed_encode_shared(const Packed *packed, int count, const uint64_t *numbers,
                          uint64_t *stored, uint64_t *exponent);
uint64_t packed_decode_shared(const Packed *packed, uint64_t stored, uint64_t exponent);

/* The largest or the least number of a type that is not an integer. */
double packed_end(const Packed *packed, bool is_most);

/* -- facts of floats that the codecs of kernels need, too ------------------------------------- */

/* FLOAT: what the rounded magnitude bits of an f32 are more than those stored; the largest. */
uint32_t packed_float_base(const Packed *packed);
uint32_t packed_float_top(const Packed *packed);
/* SHARED: the stored exponent is that of the largest f32 plus this; its ends. */
int packed_shared_bias(const Packed *packed);
int packed_shared_least(const Packed *packed);
int packed_shared_most(const Packed *packed);
/* SHARED: the f32 exponent field of the step for stored exponent E is E + this. */
int packed_shared_scale(const Packed *packed);

#endif
