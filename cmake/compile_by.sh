#!/bin/sh
# compile_by.sh COMPILER OPTION... -- OTHER ARGUMENT...: what OTHER ARGUMENT... would have compiled, by COMPILER with these options last.
compiler=$1
shift
options=
while [ "$1" != -- ]; do
  options="$options $1"
  shift
done
shift 2
# cmake includes the header that it precompiles, for which clang would take what was precompiled before.
before=
output=
header=
for argument in "$@"; do
  [ "$before" != -o ] || output=$argument
  [ "$argument" != c++-header ] || header=yes
  before=$argument
done
[ -z "$header" ] || rm -f "$output"
# shellcheck disable=SC2086 # options without spaces
exec "$compiler" "$@" $options
