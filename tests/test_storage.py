"""Files: whole or not at all, and nothing that is not ours is taken for ours."""

import copy
import io
import os
import pickle
import tracemalloc
import warnings
import zipfile

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cohmm import HMM, Cooccurrence, StorageError, Triples, count_pairs, count_triples, storage

MODEL = HMM([0.6, 0.4], [[0.7, 0.3], [0.4, 0.6]], [[0.1, 0.9], [0.8, 0.2]], vocabulary=["a", "ü"])


def written(tmp_path, name="model.cohmm") -> tuple:
    path = tmp_path / name
    MODEL.save(path)
    return path, path.read_bytes()


def only(path) -> bool:
    """Whether nothing else, such as a temporary file, is beside it."""
    return [child.name for child in path.parent.iterdir()] == [path.name]


# -- round trips ----------------------------------------------------------------------------


def test_header_and_arrays_come_back(tmp_path):
    path = tmp_path / "value"
    arrays = {"a": np.arange(3), "1.data": np.eye(2), "empty": np.empty((0, 4), np.float32)}
    storage.save(path, "thing", {"note": "grüße", "sizes": (1, 2)}, arrays)
    header, found = storage.load(path, "thing")
    assert header == {"cohmm": "thing", "format": storage.FORMAT, "note": "grüße", "sizes": [1, 2]}
    assert found.keys() == arrays.keys()
    for name, array in arrays.items():
        assert found[name].dtype == array.dtype
        np.testing.assert_array_equal(found[name], array)


def test_what_kind_of_value_a_file_holds(tmp_path):
    path, whole = written(tmp_path)
    assert storage.kind(path) == "HMM"
    count_pairs([0, 1, 0]).save(path)
    assert storage.kind(str(path)) == "cooccurrence"
    with pytest.raises(StorageError, match="holds a cooccurrence, not a HMM"):
        HMM.load(path)
    for content, complaint in ((b"text", "not a cohmm file"), (whole[:-9], "damaged")):
        path.write_bytes(content)
        with pytest.raises(StorageError, match=complaint):
            storage.kind(path)
    with pytest.raises(StorageError, match="there is no file"):
        storage.kind(tmp_path / "nowhere")
    with pytest.raises(StorageError, match="is a folder"):
        storage.kind(tmp_path)
    storage.save(path, "thing", {"format": 9}, {})
    with pytest.raises(StorageError, match="is of format 9"):
        storage.kind(path)


@pytest.mark.parametrize("path", [".", "..", ""])
def test_a_path_without_a_name(tmp_path, monkeypatch, path):
    (tmp_path / "below").mkdir()
    monkeypatch.chdir(tmp_path / "below")
    with pytest.raises(StorageError, match="cannot write"):
        MODEL.save(path)
    assert [child.name for child in tmp_path.rglob("*")] == ["below"]


def test_the_file_holds_no_pickle(tmp_path):
    path, _ = written(tmp_path)
    with zipfile.ZipFile(path) as archive:
        assert archive.testzip() is None
        for name in archive.namelist():
            assert b"|O" not in archive.read(name)[:128]  # numpy's mark of an object array
    with pytest.raises(ValueError, match="pickle"):
        storage.save(path, "thing", {}, {"a": np.array([object()])})


@pytest.mark.parametrize("kind", [str, os.fspath, lambda path: path])
def test_paths_of_any_kind_and_no_suffix_of_numpys(tmp_path, kind):
    path = tmp_path / "a name without suffix"
    MODEL.save(kind(path))
    assert only(path)
    assert HMM.load(kind(path)) == MODEL


# -- damaged and foreign files --------------------------------------------------------------


def test_a_file_cut_anywhere_is_refused(tmp_path):
    path, whole = written(tmp_path)
    for size in range(len(whole)):
        path.write_bytes(whole[:size])
        with pytest.raises(StorageError, match=r"model\.cohmm is not a cohmm file"):
            HMM.load(path)


@settings(max_examples=200)
@given(st.data())
def test_a_file_with_changed_bytes_is_refused_or_still_the_same(tmp_path_factory, data):
    path = tmp_path_factory.getbasetemp() / "changed.cohmm"
    MODEL.save(path)
    whole = bytearray(path.read_bytes())
    for _ in range(data.draw(st.integers(1, 3))):
        whole[data.draw(st.integers(0, len(whole) - 1))] = data.draw(st.integers(0, 255))
    path.write_bytes(whole)
    try:
        found = HMM.load(path)
    except StorageError:
        return
    assert found == MODEL


def test_a_file_within_a_file_of_rubbish(tmp_path):
    path, whole = written(tmp_path)
    path.write_bytes(b"rubbish" + whole)
    with pytest.raises(StorageError, match="not a cohmm file"):
        HMM.load(path)


FOREIGN = {
    "empty": b"",
    "text": b"walk shop clean\n" * 50,
    "json": b'{"cohmm": "HMM", "format": 1}',
    "pickle": pickle.dumps({"startprob": [1.0]}),
    "rubbish": np.random.default_rng(0).bytes(5000),
    "begin of a zip": b"PK\x03\x04" + bytes(500),
}


@pytest.mark.parametrize("kind", FOREIGN)
@pytest.mark.parametrize("value", [HMM, Cooccurrence, Triples])
def test_foreign_files(tmp_path, kind, value):
    path = tmp_path / "foreign.bin"
    path.write_bytes(FOREIGN[kind])
    with pytest.raises(StorageError, match=r"foreign\.bin is not a cohmm file") as caught:
        value.load(path)
    assert isinstance(caught.value, ValueError)
    assert "unsafe" not in str(caught.value)  # no advice to trust a pickle


def test_foreign_files_of_numpy_and_zip(tmp_path):
    path = tmp_path / "foreign"
    for write in (
        lambda file: np.save(file, np.eye(2)),
        lambda file: np.savez(file, startprob=np.ones(1)),
        lambda file: np.savez(file, header=np.eye(2)),
        lambda file: np.savez(file, header=np.frombuffer(b"[1, 2]", np.uint8)),
        lambda file: np.savez(file, header=np.frombuffer(b'{"a": 1}', np.uint8)),
        lambda file: np.savez(file, header=np.array([{"cohmm": "HMM"}], object)),
        lambda file: zipfile.ZipFile(file, "w").close(),
    ):
        with open(path, "wb") as file:
            write(file)
        with pytest.raises(StorageError, match="foreign is not a cohmm file"):
            HMM.load(path)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("header.txt", "hello")
    with pytest.raises(StorageError, match="foreign is not a cohmm file"):
        HMM.load(path)


def test_a_pickle_inside_is_not_run(tmp_path):
    class Harm:
        def __reduce__(self):
            return (os.mkdir, (str(tmp_path / "harm"),))

    path = tmp_path / "model.cohmm"
    MODEL.save(path)
    header, arrays = storage.load(path, "HMM")
    text = np.frombuffer(b'{"cohmm": "HMM", "format": 1, "vocabulary": null}', np.uint8)
    arrays["startprob"] = np.array([Harm()], object)
    with open(path, "wb") as file:
        np.savez(file, header=text, **arrays)
    with pytest.raises(StorageError, match=r"model\.cohmm"):
        HMM.load(path)
    assert only(path)
    assert header["vocabulary"] == ["a", "ü"]


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (MODEL, "holds a HMM, not a"),
        (count_pairs([0, 1]), "holds a cooccurrence, not a"),
        (count_triples([0, 1, 0]), "holds a triples, not a"),
    ],
)
def test_the_wrong_kind_of_value(tmp_path, value, message):
    path = tmp_path / "value.cohmm"
    value.save(path)
    assert type(value).load(path) == value
    for other in {HMM, Cooccurrence, Triples} - {type(value)}:
        with pytest.raises(StorageError, match=message):
            other.load(path)


def test_another_version_of_the_format(tmp_path, monkeypatch):
    path = tmp_path / "model.cohmm"
    with monkeypatch.context() as patch:
        patch.setattr(storage, "FORMAT", 99)
        MODEL.save(path)
    with pytest.raises(StorageError, match=r"model\.cohmm is of format 99; .* reads format 1"):
        HMM.load(path)


def test_places_that_are_no_file(tmp_path):
    with pytest.raises(StorageError, match=r"there is no file .*nowhere\.cohmm"):
        HMM.load(tmp_path / "nowhere.cohmm")
    with pytest.raises(StorageError, match="is a folder, not a file"):
        HMM.load(tmp_path)


# -- files that were made to do harm ---------------------------------------------------------


def member(array):
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


def parts_of(tmp_path):
    """The members of a model's file, as bytes."""
    path, _ = written(tmp_path)
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def zipped(path, parts, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of zipfile, about a name that is there twice
        with zipfile.ZipFile(path, "w", **options) as archive:
            for name, data in parts:
                archive.writestr(name, data)


def refused(path, complaint):
    """Loading is refused, and next to no memory is asked for."""
    tracemalloc.start()
    try:
        with pytest.raises(StorageError, match=complaint) as caught:
            HMM.load(path)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert path.name in str(caught.value)
    assert peak < 5e6


def test_a_small_file_that_inflates_is_refused_unread(tmp_path):
    path = tmp_path / "bomb.cohmm"
    parts = parts_of(tmp_path)
    parts["transmat.npy"] = member(np.zeros((5_000, 5_000), np.int8)) * 10  # 250 MB
    zipped(path, parts.items(), compression=zipfile.ZIP_DEFLATED)
    assert path.stat().st_size < 1e6
    refused(path, "its member 'header.npy' is compressed")
    with pytest.raises(StorageError, match="is compressed"):
        storage.kind(path)


def test_members_that_share_their_bytes(tmp_path):
    """Of a thousand names for one member, all would be read."""
    path = tmp_path / "overlapping.cohmm"
    parts = parts_of(tmp_path)
    zipped(path, [*parts.items(), ("large.npy", member(np.zeros(100_000)))])
    with zipfile.ZipFile(path, "a") as archive:
        for n in range(1000):
            again = copy.copy(archive.getinfo("large.npy"))
            again.filename = again.orig_filename = f"large{n:03}.npy"
            archive.filelist.append(again)
        archive._didModify = True  # so that the list of members is written again
    assert path.stat().st_size < 2e6
    refused(path, r"its member 'large\d+.npy' is larger than the file, or shared with others")


@pytest.mark.parametrize("shape", ["(50000, 50000)", "(1,)", "(-2, -1)", "(2, 10**9)", "()"])
def test_an_array_that_says_it_has_another_size(tmp_path, shape):
    path = tmp_path / "lying.cohmm"
    parts = parts_of(tmp_path)
    honest = b"'shape': (2, 2), }"
    assert honest in parts["transmat.npy"]
    lie = f"'shape': {shape}, }}".encode()
    n = max(len(lie), len(honest))  # blanks follow
    parts["transmat.npy"] = parts["transmat.npy"].replace(honest.ljust(n), lie.ljust(n))
    assert lie in parts["transmat.npy"]
    zipped(path, parts.items())
    refused(path, "its array 'transmat'")


@pytest.mark.parametrize(
    ("data", "complaint"),
    [
        (b"hello", "its array 'transmat': EOF"),
        (b"", "its array 'transmat': EOF"),
        (b"\x93NUMPY\x09\x09 and more", "its array 'transmat'"),
        (member(np.array([[1.0, "a"]], object)), "its array 'transmat': object is not a type of"),
        (member(np.array(["a"])), "its array 'transmat': <U1 is not a type of numbers"),
        (member(np.zeros(2, [("a", "f8")])), "its array 'transmat'"),
        (member(np.eye(2)) + b"\0", "its array 'transmat'"),
        (member(np.eye(2))[:-1], "its array 'transmat'"),
    ],
)
def test_a_member_that_is_not_an_array_of_numbers(tmp_path, data, complaint):
    path = tmp_path / "wrong.cohmm"
    zipped(path, (parts_of(tmp_path) | {"transmat.npy": data}).items())
    refused(path, complaint)
    count_pairs([0, 1, 0]).save(path)
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    zipped(path, (parts | {"symbol_counts.npy": b"hello"}).items())
    with pytest.raises(StorageError, match=r"wrong\.cohmm .*its array 'symbol_counts'"):
        Cooccurrence.load(path)


def test_members_that_are_there_twice_or_foreign(tmp_path):
    path = tmp_path / "strange.cohmm"
    parts = list(parts_of(tmp_path).items())
    zipped(path, [*parts, ("startprob.npy", member(np.ones(1)))])
    refused(path, "its member 'startprob.npy' is there twice")
    zipped(path, [*parts, ("../startprob", b"")])
    refused(path, "its member '../startprob' is not an array")


def test_damage_is_told_with_the_file_and_the_member(tmp_path):
    path, whole = written(tmp_path)
    at = whole.index(MODEL.transmat.tobytes())
    path.write_bytes(whole[:at] + b"\xff" + whole[at + 1 :])
    refused(path, r"model.cohmm is not a cohmm file, or is damaged \(its array 'transmat'")


def test_a_header_that_cannot_be_read(tmp_path):
    path = tmp_path / "model.cohmm"
    for text in (b"\xff", b"[" * 100_000, b'{"cohmm": ' + b"9" * 5000 + b"}"):
        parts = parts_of(tmp_path) | {"header.npy": member(np.frombuffer(text, np.uint8))}
        zipped(path, parts.items())
        with pytest.raises(StorageError, match=r"model\.cohmm is not a cohmm file, or is damaged"):
            HMM.load(path)


def test_text_that_no_encoding_has_comes_back(tmp_path):
    """A file name of any bytes, in the parameters of a topic model."""
    path = tmp_path / "value"
    note = "a \udcff \\\udcfe ü"
    storage.save(path, "thing", {"note": note}, {})
    assert storage.load(path, "thing")[0]["note"] == note


# -- whole or not at all --------------------------------------------------------------------


def test_a_failed_save_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch):
    path, whole = written(tmp_path)

    def half(file, *value):
        file.write(b"half of it")
        file.flush()
        raise MemoryError

    monkeypatch.setattr(storage, "write", half)
    for save in (MODEL.save, count_pairs([0, 1]).save, count_triples([0, 1, 0]).save):
        with pytest.raises(MemoryError):
            save(path)
        assert path.read_bytes() == whole
        assert only(path)


def test_a_save_that_is_interrupted_leaves_nothing(tmp_path):
    path = tmp_path / "value"

    def interrupt():
        with storage.replacing(path) as file:
            file.write(b"half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupt()
    assert list(tmp_path.iterdir()) == []


def test_what_cannot_be_written_is_not_begun(tmp_path):
    path, whole = written(tmp_path)
    with pytest.raises(TypeError):
        storage.save(path, "thing", {"note": object()}, {})
    assert path.read_bytes() == whole
    assert only(path)


def test_the_old_file_is_there_until_the_new_one_is(tmp_path):
    path, whole = written(tmp_path)
    with storage.replacing(path) as file:
        file.write(b"new")
        file.flush()
        assert path.read_bytes() == whole
    assert path.read_bytes() == b"new"
    assert only(path)


def test_places_that_cannot_be_written(tmp_path):
    with pytest.raises(StorageError, match=r"cannot write .*nowhere.model"):
        MODEL.save(tmp_path / "nowhere" / "model")
    (tmp_path / "folder").mkdir()
    with pytest.raises(StorageError, match=r"cannot write .*folder"):
        MODEL.save(tmp_path / "folder")
    assert [child.name for child in tmp_path.iterdir()] == ["folder"]


def test_complaints_about_contents_name_the_file():
    def wrong():
        raise KeyError("transmat")

    with pytest.raises(StorageError, match=r"here\.cohmm is damaged: 'transmat'"):
        storage.reading("here.cohmm", wrong)
    assert storage.reading("here.cohmm", lambda: 5) == 5
