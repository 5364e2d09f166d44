"""The order of strings."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from edgewise.ingest.string_words import ascending_order, strings_of

pytestmark = pytest.mark.interpreter
WORDS = st.one_of(st.text(max_size=20), st.text(alphabet="ab\0", max_size=30))


@given(st.lists(WORDS), st.sampled_from([pa.string(), pa.large_string()]))
@settings(max_examples=100, deadline=None)
def test_order_is_that_of_the_bytes(words, kind):
    words = [word for word in words if word.isascii() or not any(0xD800 <= ord(c) < 0xE000 for c in word)]
    order = ascending_order(strings_of(pa.array(["x", *words], kind)[1:]))
    expected = sorted(range(len(words)), key=lambda row: (words[row].encode(), row))
    assert order.tolist() == expected


def test_long_common_beginnings():
    words = [f"customer-000000{number:06}" for number in np.random.default_rng(1).permutation(3000)]
    order = ascending_order(strings_of(pa.chunked_array([words[:1000], words[1000:]])))
    assert [words[row] for row in order] == sorted(words)
