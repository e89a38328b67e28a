"""`python -m tools.environment.imports`: import every module that runs with the set `run` alone."""

import importlib
import pkgutil

from tools import CODE

#: Started by Spark, in processes of their own.
OF_SPARK = ("delta", "pyspark.daemon", "pyspark.worker")
#: Great Expectations, and the HTTP server, come with sets of their own.
OF_LATER_SETS = ("pipeline.upkeep.quality", "pipeline.serving", "driver.http_server", "driver.serving")


def modules() -> list[str]:
    """The names of all modules of the project that need no more than the set `run`."""
    names = []
    for room in CODE:
        package = importlib.import_module(room)
        names += [found.name for found in pkgutil.walk_packages(package.__path__, f"{room}.")]
    return [name for name in names if not name.startswith(OF_LATER_SETS) and not name.endswith("__main__")]


if __name__ == "__main__":
    for module in (*modules(), *OF_SPARK):
        importlib.import_module(module)
