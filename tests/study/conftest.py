"""The study of the embedded evidence and the report built from it, shared with the tests of the site."""

from tests.site.conftest import evidence, report, study  # noqa: F401
