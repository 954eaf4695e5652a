#!/usr/bin/env bash
# host_names.sh OUT LIBRARY.. - a C file that defines, as functions of a host, every name that the
# libraries have inside: read from their own symbol tables, but for what they export for a caller
# and what they themselves take from the C library. Each of those functions is one call of
# host_was_called. With them, mathematics that kernels call and no library calls itself.
set -eu
out="$1"
shift
{
  echo '/* made by host_names.sh */'
  echo 'void host_was_called(void);'
  echo '__asm__(".text\n"'
  # first what is needed from outside, then what is there: a line per name, in the end those that
  # are only there
  {
    nm -D --undefined-only "$@" | awk '/ U | w /{sub(/@.*/, "", $NF); print "needed", $NF}'
    nm --defined-only "$@" | awk 'NF == 3 {print "there", $3}'
    for name in sin cos tan asin acos atan atan2 sinh cosh tanh exp exp2 log log2 log10;
      do echo "function ${name}f"; done
  } | awk '$1 == "needed" {taken[$2] = 1; next}
    $1 == "function" && $2 != "log2f" {delete taken[$2]}
    $2 ~ /^([A-Za-z]|_Z)[A-Za-z0-9_]*$/ && $2 !~ /^(rg_|regolith_codegen|main$)/ && !taken[$2] {
      taken[$2] = 1
      printf "\".globl %s\\n.type %s, @function\\n%s:\\n\"\n", $2, $2, $2
    }'
  echo '"jmp host_was_called\n");'
} >"$out"
