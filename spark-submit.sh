#!/usr/bin/env bash
# The one command of the project: makes its environment when it is missing, then runs a command of jobs/ on Spark. ./spark-submit.sh --help
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)
venv=$root/.venv
spark_version=4.2.0

fail() {
  echo "error: $*" >&2
  exit 2
}

# ---- Python: a 3.11 or newer that can make environments --------------------------------------------------------------------------------
is_good_python() {
  "$1" -c 'import sys, venv, ensurepip; sys.exit(not (3, 11) <= sys.version_info[:2] < (3, 15))' >/dev/null 2>&1
}
find_python() {
  if [[ -n ${PYTHON:-} ]]; then
    is_good_python "$PYTHON" || fail "PYTHON=$PYTHON is not a Python 3.11 to 3.14 with the venv module"
    python=$PYTHON
    return
  fi
  for python in python3.11 python3.12 python3.13 python3.14 python3 python; do
    if is_good_python "$python"; then return; fi
  done
  fail "no Python 3.11 to 3.14 with the venv module found (found: $(python3 --version 2>&1 | head -n 1)): install one, or name it: PYTHON=/path/to/python3.11"
}

# ---- Java: 17 or newer, the one that Spark will take ------------------------------------------------------------------------------------
check_java() {
  local java=java version major
  if [[ -n ${JAVA_HOME:-} ]]; then
    java=$JAVA_HOME/bin/java
    [[ -x $java ]] || fail "JAVA_HOME=$JAVA_HOME has no bin/java: set it to a Java 17 or newer, or unset it"
  elif ! command -v java >/dev/null 2>&1; then
    fail "no Java found: install Java 17 or newer (Debian, Ubuntu: apt install openjdk-17-jre-headless), or set JAVA_HOME"
  fi
  version=$("$java" -version 2>&1 | sed -n 's/.*version "\([^"]*\)".*/\1/p' | head -n 1) || version=
  major=${version%%[.-]*}
  [[ $major == 1 ]] && major=$(cut -d. -f2 <<<"$version")
  [[ $major =~ ^[0-9]+$ ]] || fail "$java -version does not say its version: install Java 17 or newer, or set JAVA_HOME"
  ((major >= 17)) || fail "Java $version is too old ($java): Spark needs Java 17 or newer; set JAVA_HOME"
}

# ---- The environment: what is missing is made (tools/environment), once, again when requirements/ or the rules change ---------------------
set_up() { # part…
  local python=$venv/bin/python
  [[ -x $python ]] || find_python
  "$python" -P -m tools.environment "$@" || exit
}

# ---- Arguments: Spark's options to Spark, the rest to our command -------------------------------------------------------------------------
ours=()
spark_options=()
jars=
archives=
executor_path=
master=
deploy_mode=client
properties=
py_files=
set_option() { # name value
  case $1 in
  --jars) jars=$jars,$2 ;;
  --py-files) py_files=,$2 ;;
  --archives) archives=,$2 ;;
  --properties-file)
    [[ -r $2 ]] || fail "--properties-file $2: cannot be read"
    properties=$2
    ;;
  --conf)
    [[ $2 == *=* ]] || fail "--conf $2: expected key=value"
    case $2 in
    spark.jars=*) jars=$jars,${2#*=} ;;
    spark.archives=*) archives=,${2#*=} ;;
    spark.executorEnv.PYTHONPATH=*) executor_path=:${2#*=} ;;
    spark.master=*) master=${2#*=} ;;
    spark.submit.deployMode=*) deploy_mode=${2#*=} ;;
    *) spark_options+=(--conf "$2") ;;
    esac
    ;;
  --master) master=$2 ;;
  --deploy-mode) deploy_mode=$2 ;;
  *) spark_options+=("$1" "$2") ;;
  esac
}
while (($#)); do
  case $1 in
  --)
    shift
    ours+=("$@")
    break
    ;;
  --master | --deploy-mode | --conf | --packages | --exclude-packages | --repositories | --jars | --files | --archives | --py-files | --name | --queue | \
    --driver-memory | --driver-cores | --driver-java-options | --driver-class-path | --driver-library-path | --executor-memory | --executor-cores | \
    --num-executors | --total-executor-cores | --properties-file | --principal | --keytab | --proxy-user)
    (($# > 1)) || fail "$1 needs a value"
    set_option "$1" "$2"
    shift 2
    ;;
  --master=* | --deploy-mode=* | --conf=* | --packages=* | --exclude-packages=* | --repositories=* | --jars=* | --files=* | --archives=* | --py-files=* | --name=* | \
    --queue=* | --driver-memory=* | --driver-cores=* | --driver-java-options=* | --driver-class-path=* | --driver-library-path=* | --executor-memory=* | \
    --executor-cores=* | --num-executors=* | --total-executor-cores=* | --properties-file=* | --principal=* | --keytab=* | --proxy-user=*)
    set_option "${1%%=*}" "${1#*=}"
    shift
    ;;
  *)
    ours+=("$1")
    shift
    ;;
  esac
done

# The project's code, wherever we are called from; -P below: a folder `jobs` of the caller's must not come before ours.
export PYTHONPATH=$root${PYTHONPATH:+:$PYTHONPATH}
export NUMBA_CACHE_DIR=${NUMBA_CACHE_DIR:-$venv/numba-cache}
export PYTHONUNBUFFERED=1
# glibc keeps what is freed in a pool for each of many threads: the JVM of a live job gave 220 MB back when it was asked to, after half an hour.
export MALLOC_ARENA_MAX=${MALLOC_ARENA_MAX:-2}
# Without its bytecode a command that only reads would compile what it imports, for a second. Containers often switch it off.
unset PYTHONDONTWRITEBYTECODE
export PYTHONPYCACHEPREFIX=${PYTHONPYCACHEPREFIX:-$venv/pycache}

if ((${#ours[@]} == 0)); then ours=(--help); fi
if [[ ${ours[0]} == set-up ]]; then
  check_java
  ours[0]=packages
  set_up jars classes rules "${ours[@]}"
  echo "ready: $venv" >&2
  exit 0
fi

# Wrong arguments and --help come before anything is installed.
python=$venv/bin/python
[[ -x $python ]] || find_python
for word in "${ours[@]}"; do
  if [[ $word == -h || $word == --help ]]; then
    [[ ${ours[0]} == validate ]] && set_up packages && python=$venv/bin/python
    exec "$python" -P -m jobs "${ours[@]}"
  fi
done
needs=$("$python" -P -m console.needs "${ours[@]}") || exit $?
if [[ $needs == *' look' ]]; then
  needs=${needs% look}
  # shellcheck disable=SC2086 # words
  set_up $needs
  needs+=" $("$venv/bin/python" -P -m console.needs_after_look "${ours[@]}")" || exit $?
fi
if [[ $needs != *jars* ]]; then
  # shellcheck disable=SC2086 # words
  set_up $needs
  exec "$venv/bin/python" -P -m jobs "${ours[@]}"
fi

check_java
if [[ -n ${SPARK_HOME:-} ]]; then
  [[ -x $SPARK_HOME/bin/spark-submit ]] || fail "SPARK_HOME=$SPARK_HOME has no bin/spark-submit: correct it, or unset it to use the project's own Spark"
  compgen -G "$SPARK_HOME/jars/spark-core_*-$spark_version.jar" >/dev/null ||
    fail "SPARK_HOME=$SPARK_HOME is not Spark $spark_version, which Delta's jars need: use that version, or unset it to use the project's own Spark"
fi
# Classes are shared by our own Spark on this machine.
[[ -z ${SPARK_HOME:-}${SPARK_CONF_DIR:-} && (-z $master || $master == local*) ]] || needs=${needs/ classes/}
# shellcheck disable=SC2086 # words
set_up $needs

# ---- Start -------------------------------------------------------------------------------------------------------------------------------
export PYSPARK_PYTHON=${PYSPARK_PYTHON:-$venv/bin/python}
export PYSPARK_DRIVER_PYTHON=${PYSPARK_DRIVER_PYTHON:-$PYSPARK_PYTHON}
defaults=$root/conf/spark-defaults.conf
if [[ -n $properties ]]; then
  # Spark reads one file: the given one after ours, the later line of a key wins.
  mkdir -p "$venv/properties"
  merged=$venv/properties/$(cat "$defaults" "$properties" | cksum | tr ' ' '-').conf
  cat "$defaults" "$properties" >"$merged.$$" && mv "$merged.$$" "$merged"
  defaults=$merged
fi
if [[ -n ${SPARK_HOME:-} ]]; then
  spark_options+=(--load-spark-defaults) # the cluster's own settings, where ours say nothing
fi
effective_master=$master
[[ -n $effective_master ]] || effective_master=$(sed -n -E 's/^spark\.master[[:space:]=]+//p' "$defaults" | tail -n 1)
case $effective_master in
local | 'local['* | 'local-cluster['* | yarn | spark://* | k8s://*) ;;
*) fail "--master $effective_master: expected local, local[N], local[*], yarn, spark://HOST:PORT or k8s://URL" ;;
esac
[[ -z $master ]] || spark_options+=(--master "$master")
delta_jars=$(printf '%s,' "$venv"/jars/*.jar)
[[ " $needs " != *' kafka '* ]] || delta_jars+=$(printf '%s,' "$venv"/kafka-jars/*.jar)
for store in s3 google azure; do
  [[ " $needs " != *" $store "* ]] || delta_jars+=$(printf '%s,' "$venv"/$store-jars/*.jar)
done
# For reading several parts of a file at once Google's connector calls a method that Hadoop 3.5 lacks.
[[ " $needs " != *' google '* ]] || spark_options+=(--conf spark.hadoop.parquet.hadoop.vectored.io.enabled=false)
spark_options+=(--properties-file "$defaults" --deploy-mode "$deploy_mode" --jars "${delta_jars%,}$jars")
# What Python workers import before Spark's own code: our modules, and the rules that numba compiled.
spark_options+=(--conf spark.python.daemon.module=driver.python_daemon)
if [[ $effective_master == local || $effective_master == 'local['* ]]; then
  # Workers of this machine import the project's folder (PYTHONPATH).
  export SPARK_LOCAL_IP=${SPARK_LOCAL_IP:-127.0.0.1}
  [[ -z $archives ]] || spark_options+=(--archives "${archives#,}")
  path=$executor_path
else
  # YARN gives executors the file about Spark's log that it finds there. On this machine driver/session.py names it to Java.
  [[ -n ${SPARK_HOME:-} ]] || export SPARK_CONF_DIR=${SPARK_CONF_DIR:-$root/conf}
  # Executors unpack the code and the compiled rules into the folder that their daemons of Python workers start in.
  shipped=$("$venv/bin/python" -P -m tools.code_zip "$venv/shipped")
  spark_options+=(--archives "$shipped#dispatch_analytics$archives")
  path=:dispatch_analytics$executor_path
  if [[ $deploy_mode == cluster ]]; then
    # The driver runs elsewhere, too. Under another name: YARN takes a file once.
    cp "$shipped" "$shipped.$$" && mv "$shipped.$$" "${shipped%.zip}-driver.zip"
    py_files=,${shipped%.zip}-driver.zip$py_files
  fi
fi
[[ -z $path ]] || spark_options+=(--conf "spark.executorEnv.PYTHONPATH=${path#:}")
[[ -z $py_files ]] || spark_options+=(--py-files "${py_files#,}")

if [[ $deploy_mode == cluster ]]; then
  submit=$venv/bin/spark-submit
  [[ -z ${SPARK_HOME:-} ]] || submit=$SPARK_HOME/bin/spark-submit
  exec "$submit" "${spark_options[@]}" "$root/jobs/__main__.py" "${ours[@]}"
fi
# As a client, Python comes first and starts Spark's spark-submit itself, with these options: so a SIGTERM reaches the job, which lets its micro-batch finish.
# Started the other way round, Java would get it and end amid the batch.
quoted=
for option in "${spark_options[@]}"; do quoted+="'${option//\'/\'\\\'\'}' "; done
export PYSPARK_SUBMIT_ARGS="${quoted}pyspark-shell"
exec "$venv/bin/python" -P -m jobs "${ours[@]}"
