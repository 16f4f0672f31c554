# What the shell examples share. SIDECAR_URL says where the sidecar is, SIDECAR_CREDENTIALS as whom to call it.
url=${SIDECAR_URL:-http://127.0.0.1:5393}
credentials=${SIDECAR_CREDENTIALS:-}

# call METHOD PATH [BODY [IDEMPOTENCY_KEY]]: prints the answer; fails with the error on stderr.
call() {
  local answer headers='header = "content-type: application/json"'
  if [ -n "$credentials" ]; then headers+=$'\n'"header = \"authorization: Bearer $credentials\""; fi
  if [ -n "${4:-}" ]; then headers+=$'\n'"header = \"idempotency-key: $4\""; fi
  # The headers go through stdin: the arguments of a command can be read by everybody on the machine.
  answer=$(curl -sS --fail-with-body -X "$1" "$url$2" ${3:+-d "$3"} -K - <<<"$headers") && echo "$answer" && return
  echo "$answer" >&2
  return 1
}

# The value of a string member of the JSON on stdin.
member() { sed -n "s/.*\"$1\":\"\([^\"]*\)\".*/\1/p"; }
