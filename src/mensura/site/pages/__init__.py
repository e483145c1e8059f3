"""The pages of the report: which there are, and what each is given to show."""

from collections.abc import Iterator, Sequence

from mensura.evidence import Evidence
from mensura.site.editions import Edition
from mensura.site.pages.benchmarks import benchmark_list, benchmark_pages as benchmark_pages
from mensura.site.pages.charts import chart_page, cost, horizon, human, iq, stitched
from mensura.site.pages.data import changes, compare, data, method, missing, overview, pick, record
from mensura.site.pages.models import maker_pages as maker_pages, model, model_file as model_file, model_list
from mensura.site.pages.page import MORE as MORE, NAVIGATION as NAVIGATION, Page as Page
from mensura.site.pages.people import people
from mensura.study.study import Study


def count_pages(evidence: Evidence) -> int:
    """Return how many pages a report on this evidence has, those of single pictures left out.

    Parameters
    ----------
    evidence : Evidence
        The evidence.

    Returns
    -------
    int
        The number of pages.

    Examples
    --------
    >>> import mensura
    >>> from mensura.site import count_pages
    >>> count_pages(mensura.load()) > 100
    True

    """
    missing_page = 1
    singles = evidence.models.height + evidence.benchmarks.height + evidence.models["provider"].n_unique()
    return len(NAVIGATION) + len(MORE) + missing_page + singles


def named_pages(study: Study, editions: Sequence[Edition] = ()) -> Iterator[Page]:
    """Yield the pages that every report has once; every chart that the drawing library draws is on one of them.

    Those with most charts come first, because their drawing takes longest.
    """
    most = stitched, iq, human, cost, horizon, overview, model_list, benchmark_list, people, record, pick, compare, data
    yield from (make(study) for make in most)
    yield from (changes(study, list(editions)), method(study), missing())


def model_pages(study: Study, rows: slice = slice(None)) -> Iterator[Page]:
    """Yield the pages of the models, or of these rows of them, best IQ first, one at a time: there may be thousands."""
    yield from (model(study, row) for row in study.models[rows].iter_rows(named=True))


def picture_pages(named: Sequence[Page]) -> Iterator[Page]:
    """Yield the page of each single picture of the named pages."""
    paged = {figure.name: figure for page in named for figure in page.figures if figure.paged}
    yield from map(chart_page, paged.values())
