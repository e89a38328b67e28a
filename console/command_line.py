"""Arguments of every command. An error of the operator is one line that names what to do, and exit 2. A bug shows its trace."""

import argparse
import importlib
import sys
from collections.abc import Sequence
from types import ModuleType
from typing import NoReturn

from pipeline.faults import BadConfig, BadWarehouse
from pipeline.store.faults import store_fault
from pipeline.visible import visible

#: Command → what it does. Its module jobs/<command>.py (with _ for -) has add_arguments(parser) and run(args) -> exit code; it is
#: imported when asked for.
COMMANDS = {
    "demo": "a real broker's log, bundled, through the job, beside the broker's own counters",
    "stream": "read a dispatch-event log into Delta tables, live or once",
    "load": "a finished log into a new warehouse, without Spark, in seconds",
    "why": "why every subscription is behind, a line each",
    "explain": "why one subscription is behind: the cause, the outlook, the action; of a topic: the cursor that fills its quotas",
    "what-if": "another limit, quota or number of consumers: the recorded demand, replayed under it",
    "right-size": "the limit that each topic and subscription needs to keep ages below a bound",
    "top": "the worst subscriptions, live",
    "report": "an incident as one HTML file: events in order, causes, lost messages",
    "serve": "answers over HTTP, for programs and dashboards",
    "export": "history of the clean metrics, for a Prometheus that was not there",
    "sql": "run SQL over the tables and views of a warehouse",
    "status": "the state of a warehouse: its writer, the progress of each query, missing events, sizes of the tables",
    "probe": "the state of every topic and subscription at an instant",
    "quality": "judge whether the tables keep their declarations, for a scheduler",
    "quarantine": "put rejected lines back that the parser accepts now, or that somebody repaired",
    "collector": "make the agent that writes a broker's log; or check whether a broker has the points of its hooks",
    "ship": "carry a collector's files into a topic of Kafka",
    "simulate": "write the log of simulated brokers, with the true cause of every standstill",
    "validate": "check log files against the contract, without Spark",
    "backfill": "compute closed dates anew, compare, and correct the rows that differ; beside a live job",
    "maintain": "merge small files, remove unneeded files, delete old rows; beside a live job",
    "rebuild": "delete computed tables, so that they are computed anew",
}
#: Those that start no Spark: they need no jars, and look for Java themselves where they need it.
WITHOUT_SPARK = ("validate", "collector", "ship", "simulate")
#: Those that need compiled rules, and no Spark.
LOADERS = ("load",)
#: Those that only read: the reading room answers them, without Spark; of several brokers `right-size` in tasks of Spark.
READERS = ("why", "explain", "what-if", "right-size", "top", "report", "serve", "export", "sql", "status", "probe", "quality")
#: Of these, who needs pandas: Great Expectations does.
WITH_PANDAS = ("quality",)
#: Those that change files and rows of tables without Spark.
UPKEEP = ("maintain", "rebuild")
EXAMPLES = """examples:
  ./spark-submit.sh demo
  ./spark-submit.sh stream --events /var/log/pulsar-events --warehouse /data/warehouse
  ./spark-submit.sh stream --once --drain --events 'captures/**/events.jsonl*' --warehouse ./warehouse/captures
  ./spark-submit.sh sql "SELECT * FROM throttled_now" --warehouse ./warehouse/demo
  ./spark-submit.sh set-up          only make the environment (.venv): Python packages, Delta's jars, compiled rules
  ./spark-submit.sh set-up quality  the same with what the command quality needs; set-up tests: with what ./test.sh needs

Spark's own options may stand anywhere before a lone --:
  --master --deploy-mode --conf --packages --exclude-packages --repositories --jars --files --archives --py-files --driver-memory
  --driver-cores --driver-java-options --driver-class-path --driver-library-path --executor-memory --executor-cores --num-executors
  --total-executor-cores --name --queue --principal --keytab --proxy-user --properties-file (read after ours)
Without them conf/spark-defaults.conf holds: local[*], and no web interface (--conf spark.ui.enabled=true for one).
SPARK_HOME, PYSPARK_PYTHON, JAVA_HOME and PYTHON (which Python makes .venv) are honoured.

exit: 0 done; 1 the job failed; demo, validate or quality found something wrong; explain found a subscription behind or a quota exceeded;
2 an argument, setting or warehouse that cannot work, or a store that failed while a command only read
"""


class OneLineParser(argparse.ArgumentParser):
    """Reports in one line what is wrong. The usage is a --help away."""

    def error(self, message: str) -> NoReturn:
        """Exit 2."""
        print(f"error: {visible(message)}; see {self.prog} --help", file=sys.stderr)
        raise SystemExit(2)


def build_parser(command: str | None) -> argparse.ArgumentParser:
    """The parser, with the arguments of `command` alone: the other commands' modules are not imported."""
    parser = OneLineParser(
        prog="spark-submit.sh",
        description="Dispatch-event analytics for Apache Pulsar: which limiter held a subscription back, and how much.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, purpose in COMMANDS.items():
        wanted = name == command
        module = command_module(name) if wanted else None
        sub = commands.add_parser(
            name,
            help=purpose,
            description=(module.__doc__ or purpose) if module else purpose,
            epilog=getattr(module, "EXAMPLES", None),
            formatter_class=argparse.RawDescriptionHelpFormatter,
            allow_abbrev=False,
        )
        if module:
            module.add_arguments(sub)
    return parser


def command_module(name: str) -> ModuleType:
    """The module of a command."""
    return importlib.import_module(f"jobs.{name.replace('-', '_')}")


def command_of(arguments: Sequence[str]) -> str | None:
    """The command of a command line: its first word, if it is one."""
    return arguments[0] if arguments and arguments[0] in COMMANDS else None


def main(arguments: Sequence[str]) -> int:
    """Run one command; returns the exit code. Faults of the operator or the warehouse are one line on stderr; anything else propagates."""
    args = build_parser(command_of(arguments)).parse_args(arguments)
    try:
        return int(command_module(args.command).run(args))
    except (BadConfig, BadWarehouse) as fault:
        print(f"error: {visible(str(fault))}", file=sys.stderr)
        return 2
    except Exception as fault:
        words = store_fault(fault)
        if words is None:
            raise
        print(f"error: {visible(words)}", file=sys.stderr)
        # 1 is an answer of some that read: behind (explain), or broken (quality).
        return 2 if args.command in READERS else 1
