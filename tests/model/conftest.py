"""Both ways of inference: little data has kernels of its own."""

from collections.abc import Iterator

import pytest

from cohmm.model import short_data


@pytest.fixture(scope="module", params=[short_data.LARGEST, 0], ids=["short", "gangs"])
def both_ways(request: pytest.FixtureRequest) -> Iterator[None]:
    """With ``pytestmark``: every test of a file once for each."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(short_data, "LARGEST", request.param)
        yield
