/* sample.c - the code that object_test loads: calls inside and outside, constants, tables, jump
 * tables, zeroed data. */
extern float sinf(float);
extern double pow(double, double);
extern void *memset(void *, int, unsigned long);

static const int primes[] = {2, 3, 5, 7, 11, 13};
static int counter;
static const char *const names[] = {"zero", "one", "two"};

static __attribute__((noinline)) int twice(int x) { return 2 * x + counter; }

int sample_inside(int x) { return twice(x) + primes[x % 6]; }
int sample_count(void) { return ++counter; }
float sample_sine(float x) { return sinf(x) * 0.5f + 1.25f; }
double sample_power(double x) { return pow(x, 3.0); }
const char *sample_name(int i) { return names[i % 3]; }

int sample_switch(int kind, int a, int b) {
  switch (kind) {
  case 0: return a + b;
  case 1: return a - b;
  case 2: return a * b;
  case 3: return b ? a / b : 0;
  case 4: return a & b;
  case 5: return a | b;
  case 6: return a ^ b;
  case 7: return sample_inside(a) + sample_inside(b);
  default: return -1;
  }
}

int sample_clear(unsigned char *bytes, int count) {
  memset(bytes, 0, (unsigned long)count);
  return count;
}

void sample_scale(float *values, int count, float factor) {
  for (int i = 0; i < count; i++) values[i] = values[i] * factor + 0.125f;
}
