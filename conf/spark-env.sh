#!/usr/bin/env bash
# Spark's start script (bin/spark-class) reads this file, then starts Java by its last line, an `exec`.
# Spark asks every JVM for its incubating module jdk.incubator.vector, and the JVM warns of it at every start. Of all that Spark brings only
# the mathematics of MLlib use that module, and this project has no MLlib. So Java is started without it, and has nothing to warn of.
exec() {
  local word words=()
  for word; do
    [[ $word == --add-modules=jdk.incubator.vector ]] || words+=("$word")
  done
  builtin exec "${words[@]}"
}
# Whoever reads this file exports all that it sets; programs that Java starts keep their own exec.
export -nf exec
