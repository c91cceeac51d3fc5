import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cohmm.data.vocabulary import as_vocabulary, codes_in, in_order, unite

labels = st.lists(st.one_of(st.integers(-5, 5), st.text("abc", max_size=2)), unique=True)


def test_labels_become_plain_values():
    found = as_vocabulary(np.array(["b", "a"]))
    assert found == ("b", "a")
    assert [type(label) for label in found] == [str, str]
    assert [type(label) for label in as_vocabulary(np.array([3, 1]))] == [int, int]
    assert as_vocabulary(iter("ab")) == ("a", "b")


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ("abc", "not the string 'abc'"),
        (["a", "b", "a"], "label 'a' twice, at 0"),
        (["x", 1, 1], "label 1 twice, at 1"),
        ([], "vocabulary is empty"),
        (["a", None], "at 1 is None"),
        (["a", 1.5], "at 1 is 1.5"),
        (["a", ["b"]], r"at 1 is \['b'\]"),
    ],
)
def test_what_is_no_vocabulary(wrong, message):
    with pytest.raises(ValueError, match=message):
        as_vocabulary(wrong)


@given(labels)
def test_order_is_of_the_labels_not_of_the_data(found):
    ordered = in_order(found)
    assert ordered == in_order(reversed(found))
    assert set(ordered) == set(found)
    numbers = [label for label in ordered if isinstance(label, int)]
    words = [label for label in ordered if isinstance(label, str)]
    assert list(ordered) == sorted(numbers) + sorted(words)


@given(labels, labels)
def test_union_has_every_label_once(left, right):
    both = unite(tuple(left), tuple(right))
    assert len(both) == len(set(both))
    assert set(both) == {*left, *right}
    assert set(unite(tuple(right), tuple(left))) == set(both)
    assert unite(in_order(left), in_order(right)) == unite(in_order(right), in_order(left))


def test_union_keeps_the_order_of_a_left_that_has_them_all():
    assert unite(("b", "c", "a"), ("a", "b")) == ("b", "c", "a")
    assert unite(("b", "a"), ("b", "a")) == ("b", "a")


@given(labels, labels)
def test_codes_are_places(found, vocabulary):
    codes = codes_in(tuple(found), tuple(vocabulary))
    assert codes.dtype == np.int32
    assert codes.tolist() == [vocabulary.index(x) if x in vocabulary else -1 for x in found]
