# failures.sh - collects the failed tests, one line each, so that the end of a log suffices. Suites
# append to the file `failures`, which tests/run prints before its last line. Sourced by tests/run.

failures=$(mktemp)
trap 'rm -f "$failures"' EXIT

# note_failures SUITE < LINES: appends each line with the name of the suite. Jobs run in parallel
# and append to one file, so each line is a single write.
note_failures() {
  local line
  while IFS= read -r line; do printf '%s: %s\n' "$1" "$line" >>"$failures"; done
}

# The failures in the log of a test program: a failed test prints `not ok: NAME`, and the next line
# says what was wrong, unless it belongs to another test.
failures_of_counted() { # LOG
  awk '
    function flush() { if (name != "") print substr(name, 1, 500); name = "" }
    /^not ok: / { flush(); name = substr($0, 9); next }
    /^[0-9]+ passed, [0-9]+ failed/ { flush() }
    name != "" { sub(/^ +/, ""); name = name ": " $0; flush() }
    END { flush() }' "$1"
}

# The failures in busted's log: `Failure -> FILE @ LINE`, the name of the test, and the message up
# to an empty line. An error outside of a test begins with its message.
failures_of_busted() { # LOG
  awk '
    function flush() { if (text != "") print substr(text, 1, 500); text = "" }
    /^(Failure|Error) -> / { flush(); sub(/^[A-Za-z]+ -> /, ""); sub(/ @ /, ":"); text = $0; next }
    /^$/ { flush() }
    text != "" { text = text ": " $0 }
    END { flush() }' "$1"
}

tell_failures() {
  [ -s "$failures" ] && sed 's/^/failed: /' "$failures"
}
