"""The process that runs the cases of the conformance suite."""

import pytest
import run_cases


@pytest.fixture(scope="session")
def server():
    made = run_cases.Server("galatea.dali")
    yield made
    made.close()
