"""Great Expectations at work: its expectations judge the counts, and its Data Docs show the results. Nothing on disk but the docs.

An expectation asks for metrics, and says whether they meet it. Usually an engine of Great Expectations computes the metrics, by hundreds of
queries for a warehouse. Here they are counts that all demands on a table share two passes for (measures.py).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import great_expectations as gx
import great_expectations.expectations as gxe
from great_expectations.core.expectation_validation_result import ExpectationSuiteValidationResult
from great_expectations.core.run_identifier import RunIdentifier
from great_expectations.data_context.types.base import DataContextConfig, InMemoryStoreBackendDefaults, ProgressBarsConfig
from great_expectations.data_context.types.resource_identifiers import ExpectationSuiteIdentifier, ValidationResultIdentifier
from great_expectations.validator.validation_statistics import calc_validation_statistics

from pipeline.faults import invariant
from pipeline.upkeep.quality.measures import EXAMPLES, Measure

#: Counts, and some of the values that break it.
_WITH_VALUES = {"result_format": "BASIC", "partial_unexpected_count": EXAMPLES}


@dataclass(frozen=True)
class _Validated:
    """The expectations about a table or of an invariant, and their results."""

    name: str
    expectations: Sequence[gxe.Expectation]
    results: Sequence[Any]


class Validation:
    """Judges tables and invariants one after another, and keeps the results of the run for Data Docs."""

    def __init__(self, run_id: str, run_at: datetime) -> None:
        self._run = RunIdentifier(run_name=run_id, run_time=run_at)
        self._validated: list[_Validated] = []

    def validate(self, name: str, expectations: Sequence[gxe.Expectation], measures: Sequence[Measure]) -> list[Any]:
        """Each expectation's result by its measure, in their order. `name` is of the suite and unique in the run."""
        results = [judged(expectation, measure) for expectation, measure in zip(expectations, measures, strict=True)]
        self._validated.append(_Validated(name, expectations, results))
        return results

    def write_docs(self, folder: Path) -> None:
        """Data Docs of what was validated, as HTML; the page to open is `folder`/index.html."""
        context = gx.get_context(mode="ephemeral", project_config=_configuration())
        for one in self._validated:
            context.suites.add(gx.ExpectationSuite(one.name, expectations=list(one.expectations)))
            self._keep(context, one)
        store = {"class_name": "TupleFilesystemStoreBackend", "base_directory": str(folder.absolute())}
        index = {"class_name": "DefaultSiteIndexBuilder"}
        context.add_data_docs_site("docs", {"class_name": "SiteBuilder", "store_backend": store, "site_index_builder": index})
        context.build_data_docs(site_names=["docs"])

    def _keep(self, context: Any, validated: _Validated) -> None:
        """Put the results where the builder of Data Docs looks for them."""
        of_suite = ExpectationSuiteIdentifier(name=validated.name)
        statistics = calc_validation_statistics(list(validated.results))
        whole = ExpectationSuiteValidationResult(
            success=statistics.success,
            results=list(validated.results),
            suite_name=validated.name,
            statistics=statistics._asdict(),
            meta={
                "run_id": self._run,
                "great_expectations_version": gx.__version__,
                "batch_spec": {"data_asset_name": validated.name},
            },
        )
        context.validation_results_store.store_validation_results(
            suite_validation_result=whole,
            suite_validation_result_identifier=ValidationResultIdentifier(of_suite, self._run, validated.name),
            expectation_suite_identifier=of_suite,
        )


def judged(expectation: gxe.Expectation, measure: Measure) -> Any:
    """The expectation's result. Raises BrokenInvariant if it asks for something else than was counted."""
    asked = expectation.get_validation_dependencies(runtime_configuration=_configured()).get_metric_configurations()
    known = _metrics(expectation, measure)
    unknown = [metric.metric_name for metric in asked if metric.metric_name not in known]
    invariant(not unknown, f"{expectation.expectation_type} asks for {', '.join(unknown)}, which nobody counted")
    return expectation.metrics_validate({metric.id: known[metric.metric_name] for metric in asked}, runtime_configuration=_configured())


def _metrics(expectation: gxe.Expectation, measure: Measure) -> Mapping[str, Any]:
    """What was counted, by Great Expectations' names of metrics."""
    metrics = {"table.row_count": measure.rows, "column_values.nonnull.unexpected_count": measure.nulls}
    kind = getattr(expectation, "map_metric", None)
    if kind is None:
        return metrics
    columns = expectation.configuration.kwargs.get("column_list")
    column = expectation.configuration.kwargs.get("column")
    values = [{name: row[name] for name in columns} if columns else row[column] for row in measure.examples]
    return metrics | {
        f"{kind}.filtered_row_count": measure.rows,
        f"{kind}.unexpected_count": measure.broken,
        f"{kind}.unexpected_values": values,
    }


def _configured() -> dict[str, Any]:
    """Great Expectations writes into what it is given."""
    return {"result_format": dict(_WITH_VALUES)}


def _configuration() -> DataContextConfig:
    """Stores in memory, no folder of its own for docs, no bars between our lines."""
    return DataContextConfig(
        store_backend_defaults=InMemoryStoreBackendDefaults(init_temp_docs_sites=False),
        progress_bars=ProgressBarsConfig(globally=False),
        analytics_enabled=False,
    )
