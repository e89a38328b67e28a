"""Great Expectations at work: an ephemeral context (nothing on disk but the docs), without analytics, over frames that it must not keep."""

from collections.abc import Sequence
from copy import copy
from datetime import datetime
from pathlib import Path
from typing import Any

import great_expectations as gx
import great_expectations.expectations as gxe
from great_expectations.core.run_identifier import RunIdentifier
from great_expectations.data_context.types.base import DataContextConfig, InMemoryStoreBackendDefaults, ProgressBarsConfig
from great_expectations.data_context.types.resource_identifiers import ExpectationSuiteIdentifier, ValidationResultIdentifier
from pyspark.sql import DataFrame

from pipeline.faults import invariant
from pipeline.quality.expectations import NUMBER

#: First only whether it holds: all of a table's expectations are then sums of one pass, and the keys one each.
_ONLY_WHETHER = "BOOLEAN_ONLY"
#: What is broken is evaluated again, with some rows as examples: each expectation is a pass of its own then.
_WITH_ROWS = {"result_format": "BASIC", "partial_unexpected_count": 5, "include_unexpected_rows": True}


class Validation:
    """Validates frames one after another and keeps the results of the run for Data Docs."""

    def __init__(self, run_id: str, run_at: datetime) -> None:
        self._context = gx.get_context(mode="ephemeral", project_config=_configuration())
        # By default every frame would be persisted, and never forgotten.
        self._source = self._context.data_sources.add_spark("warehouse", persist=False)
        self._run = RunIdentifier(run_name=run_id, run_time=run_at)

    def validate(self, name: str, frame: DataFrame, expectations: Sequence[gxe.Expectation]) -> list[Any]:
        """Evaluate the expectations over `frame`; returns their results in the order of the expectations.

        `name` is of the suite and unique in the run. Raises BrokenInvariant if an expectation could not be evaluated.
        """
        suite = self._context.suites.add(gx.ExpectationSuite(name, expectations=list(expectations)))
        asset = self._source.add_dataframe_asset(name)
        batch = asset.add_batch_definition_whole_dataframe("whole").get_batch({"dataframe": frame})
        whole = batch.validate(suite, result_format=_ONLY_WHETHER)
        results = _by_number(whole.results)
        broken = [expectation for expectation in expectations if not results[expectation.meta[NUMBER]].success]
        if broken:
            again = gx.ExpectationSuite(name, expectations=[copy(expectation) for expectation in broken])
            results |= _by_number(batch.validate(again, result_format=_WITH_ROWS).results)
        whole.results = [results[number] for number in sorted(results)]
        self._keep(name, batch.id, whole)
        return list(whole.results)

    def write_docs(self, folder: Path) -> None:
        """Data Docs of what was validated, as HTML; the page to open is `folder`/index.html."""
        store = {"class_name": "TupleFilesystemStoreBackend", "base_directory": str(folder.absolute())}
        index = {"class_name": "DefaultSiteIndexBuilder"}
        self._context.add_data_docs_site("docs", {"class_name": "SiteBuilder", "store_backend": store, "site_index_builder": index})
        self._context.build_data_docs(site_names=["docs"])

    def _keep(self, suite: str, batch_id: str, result: Any) -> None:
        """Put the result where the builder of Data Docs looks for it."""
        of_suite = ExpectationSuiteIdentifier(name=suite)
        result.meta["run_id"] = self._run
        self._context.validation_results_store.store_validation_results(
            suite_validation_result=result,
            suite_validation_result_identifier=ValidationResultIdentifier(of_suite, self._run, batch_id),
            expectation_suite_identifier=of_suite,
        )


def _configuration() -> DataContextConfig:
    """Stores in memory, no folder of its own for docs, no bars between our lines."""
    return DataContextConfig(
        store_backend_defaults=InMemoryStoreBackendDefaults(init_temp_docs_sites=False),
        progress_bars=ProgressBarsConfig(globally=False),
        analytics_enabled=False,
    )


def _by_number(results: Sequence[Any]) -> dict[int, Any]:
    """Results by the number of their expectation. An expectation that failed to run would pass for one that is broken."""
    for result in results:
        fault = str(result.exception_info)
        invariant("'raised_exception': True" not in fault, f"{result.expectation_config.type} could not be evaluated: {fault}")
    return {result.expectation_config.meta[NUMBER]: result for result in results}
