#!/usr/bin/env bash
# Every check of the project, with its own set-up.
#   ./test.sh                  lint, format, types, walls, the collector, and tests in three processes: 12 to 30 minutes on two cores
#   ./test.sh fast             the same without the collector, tests that start Spark or read whole logs of real brokers: a minute
#   ./test.sh all              with the tests marked slow, too; each says why it is slow, and what keeps its claim in the default run.
#                              Properties are tried on all their random examples, by default on an eighth, by fast on a twentieth
#   ./test.sh crash            only tests that kill the job, 200 random kills among them (KILLS=20 KILL_SEED=7 for others)
#   ./test.sh soak             only the test that lets stream, maintain and readers run together (SOAK_MINUTES=2 for less than ten)
#   ./test.sh cluster          only tests on a cluster of Spark, which they start on this machine: eight minutes on two cores. One has its
#                              warehouse in the S3 server of the word store
#   ./test.sh broker           only tests beside a real Pulsar broker with the collector: about three quarters of an hour on two cores,
#                              a third of it pairs of lives that what-if predicts. With names of scenarios (tests/broker/scenarios)
#                              only those; --keep DIR keeps their logs and figures
#   ./test.sh browser          only tests of the page in a real Chromium, which is fetched once: some minutes on two cores (--pictures DIR
#                              keeps what it saw)
#   ./test.sh prometheus       only tests with a real Prometheus, which scrapes `serve`; Debian's package is fetched once
#   ./test.sh kafka            only tests beside a real Kafka broker, which they start on this machine; its jars are fetched once
#   ./test.sh store            only tests on real servers: S3 behind a proxy that misbehaves by seed, Google's, Azure's, HDFS: S3 and HDFS
#                              take 16 minutes on two cores, the others were not timed. Go, npm and Ivy get them, once (STORE_SEED=7,
#                              STORE_KILLS=20, KILL_SEED=7 for other faults and kills)
#   ./test.sh clients          only tests that ask `serve` with Pulsar's Java client and command line, and with Go's: a minute once Maven and
#                              Go have fetched them
#   ./test.sh -k lock          further arguments go to pytest (after fast or all, if given); -n 0: in one process
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)
cd "$root"
which=most
case ${1:-} in fast | all | broker | kafka | clients | prometheus | browser | cluster | crash | soak | store)
  which=$1
  shift
  ;;
esac
# Each file's tests stay in one process: they share what they have built. Which process gets which file: tests/support/suite/both_ends.py.
processes=(-n 3 --dist loadfile --no-loadscope-reorder)
case $which in
fast)
  marked='not slow and not spark and not captures and not broker and not kafka and not clients and not prometheus and not browser and not store_server'
  export EXAMPLES_ONE_IN=20
  ;;
all)
  marked='not broker and not kafka and not clients and not prometheus and not browser and not store_server'
  export EXAMPLES_ONE_IN=1
  ;;
broker)
  marked=broker
  processes=()
  chosen=()
  while (($#)); do
    case $1 in
    --keep | -k) chosen+=("$1" "${2:?$1 needs a value}") && shift ;;
    -*) chosen+=("$1") ;;
    *) chosen+=(--scenario "$1") ;;
    esac
    shift
  done
  set -- tests/broker ${chosen[@]+"${chosen[@]}"}
  ;;
kafka)
  marked=kafka
  processes=()
  set -- tests/kafka "$@"
  ;;
prometheus)
  marked=prometheus
  processes=()
  set -- tests/prometheus "$@"
  ;;
browser)
  marked=browser
  processes=()
  set -- tests/browser "$@"
  ;;
clients)
  marked=clients
  processes=()
  set -- tests/clients "$@"
  ;;
store)
  marked=store_server
  processes=()
  set -- tests/store_server "$@"
  ;;
cluster | crash | soak)
  marked=''
  processes=()
  set -- "tests/$which" "$@"
  ;;
*) marked='not slow and not broker and not kafka and not clients and not prometheus and not browser and not store_server' ;;
esac

sets=(quality tests serve dashboards s3)
[[ $which != broker ]] || sets+=(broker)
[[ $which != browser ]] || sets+=(browser)
[[ $which != store ]] || sets+=(google azure)
[[ $which != kafka ]] || sets+=(kafka ship)
./spark-submit.sh set-up "${sets[@]}"
venv=$root/.venv
export PYTHONPATH=$root NUMBA_CACHE_DIR=${NUMBA_CACHE_DIR:-$venv/numba-cache} HYPOTHESIS_STORAGE_DIRECTORY=$root/.hypothesis
# Bytecode, where spark-submit.sh keeps it: else each process of the tests, their children and Spark's workers would compile all they import.
unset PYTHONDONTWRITEBYTECODE
export PYTHONPYCACHEPREFIX=${PYTHONPYCACHEPREFIX:-$venv/pycache}
unset SPARK_HOME PYSPARK_SUBMIT_ARGS

failed=()
check() { # name command…
  local name=$1
  shift
  echo "== $name: $*"
  "$@" || failed+=("$name")
}
bin=$venv/bin
# The collector is Java: its tests need no broker, and Maven, which is fetched where there is none. It is made beside the next checks.
collector=
case $which in most | all | broker) ./spark-submit.sh collector build & collector=$! ;; esac
check lint "$bin/ruff" check .
check format "$bin/ruff" format --check .
check types "$bin/mypy"
check walls "$bin/lint-imports"
[[ -z $collector ]] || check 'collector (./spark-submit.sh collector build)' wait "$collector"
# pytest ends with 5 when it found no test: that is a failure, too.
check tests "$bin/python" -m pytest ${processes[@]+"${processes[@]}"} ${marked:+-m "$marked"} "$@"

if ((${#failed[@]})); then
  echo "FAILED: ${failed[*]}   (again: ./test.sh${which:+ ${which/most/}}; one test: ./test.sh -k NAME)" >&2
  exit 1
fi
echo "all checks passed ($which)"
