"""The optional corpora against a real HTTP server that stalls, truncates, corrupts and refuses."""

from __future__ import annotations

import gzip
import hashlib
import io
import socket
import zipfile
from dataclasses import replace

import pytest
from coursekit import data
from coursekit.data import download, names
from coursekit.data.__main__ import main
from coursekit.data.download import Remote, fetch
from coursekit.errors import MissingFile, UserError

CONTENT = bytes(range(256)) * 800  # 204,800 bytes: several blocks
HALF, WHOLE = CONTENT[:100_000], {"Content-Length": len(CONTENT)}


@pytest.fixture
def book(server, monkeypatch, tmp_path):
    """A file on the server; the cache is empty, and there is no mirror."""
    monkeypatch.setenv("COURSE_DATA_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(download, "_PAUSE", 0.01)
    for variable in ("COURSE_DATA_MIRROR", "http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(variable, raising=False)
    server.content, sha = CONTENT, hashlib.sha256(CONTENT).hexdigest()
    return Remote("shelf/book.bin", f"{server.address}/public/shelf/book.bin", sha, len(CONTENT))


def _nothing_half_written(path):
    return path.read_bytes() == CONTENT and not path.with_name(path.name + ".part").exists()


def test_a_file_is_fetched_once_unless_it_was_changed_or_something_went_wrong(server, book, monkeypatch):
    path = fetch(book)
    assert _nothing_half_written(path)
    assert fetch(book) == path and len(server.asked) == 1
    path.write_bytes(CONTENT[:-1])
    assert _nothing_half_written(fetch(book)) and len(server.asked) == 2
    path.unlink()
    monkeypatch.setattr(download, "_TIMEOUT", 2)
    server.answers = [(200, HALF, WHOLE | {"Connection": "keep-alive"}), (503, b"", {})]  # it falls silent
    assert _nothing_half_written(fetch(book)) and len(server.asked) == 5


@pytest.mark.parametrize(
    ("answer", "reason", "times"),
    [
        ((404, b"", {}), "answered 404", 1),
        ((200, HALF, WHOLE), "broke off", 4),
        ((200, CONTENT[::-1], {}), "another checksum", 4),
    ],
)
def test_what_always_goes_wrong_is_one_sentence_and_leaves_nothing(server, book, answer, reason, times):
    server.answers = [answer] * times
    with pytest.raises(MissingFile, match=reason):
        fetch(book)
    assert list(download.cache_folder().rglob("book*")) == [] and len(server.asked) == times


def test_nobody_there_and_no_place_for_a_cache_are_a_sentence_each(book, monkeypatch, tmp_path):
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        unused = f"http://127.0.0.1:{probe.getsockname()[1]}/b.txt"
    with pytest.raises(FileNotFoundError) as raised:
        fetch(replace(book, address=unused))
    said = str(raised.value)
    assert "refused the connection" in said and "COURSE_DATA_MIRROR" in said and "\n" not in said
    with pytest.raises(MissingFile, match="there is no network"):
        fetch(replace(book, address="http://no-such-host.invalid/b.txt"))
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("COURSE_DATA_CACHE", str(tmp_path / "file"))
    with pytest.raises(MissingFile, match="COURSE_DATA_CACHE"):
        fetch(book)


def test_a_mirror_is_asked_first_and_the_public_address_after_it(server, book, monkeypatch, tmp_path):
    mirrored = tmp_path / "mirror" / "shelf" / "book.bin"
    mirrored.parent.mkdir(parents=True)
    mirrored.write_bytes(CONTENT)
    monkeypatch.setenv("COURSE_DATA_MIRROR", str(tmp_path / "mirror"))
    assert fetch(book) == mirrored and server.asked == []
    mirrored.write_bytes(b"something else")
    cached = fetch(book)
    assert cached == tmp_path / "cache" / "shelf" / "book.bin"
    cached.unlink()
    monkeypatch.setenv("COURSE_DATA_MIRROR", f"{server.address}/mirror/")
    server.answers = [(404, b"", {})]
    assert _nothing_half_written(fetch(book))
    assert [path for path, *_ in server.asked[1:]] == ["/mirror/shelf/book.bin", "/public/shelf/book.bin"]


# The corpora, from small files in their formats.


@pytest.fixture
def shelf(book, monkeypatch, tmp_path):
    """``shelf(corpus, {file: content})``: small files in place of a corpus's, in a mirror folder."""
    monkeypatch.setenv("COURSE_DATA_MIRROR", str(tmp_path / "mirror"))

    def put(name, files):
        remotes = []
        for remote in data.CORPORA[name].files:
            file = tmp_path / "mirror" / remote.name
            file.parent.mkdir(parents=True, exist_ok=True)
            content = files.get(file.name, b"")
            file.write_bytes(content)
            remotes.append(replace(remote, sha256=hashlib.sha256(content).hexdigest(), size=len(content)))
        monkeypatch.setitem(data.CORPORA, name, replace(data.CORPORA[name], files=tuple(remotes)))

    return put


def test_multi30k_is_pairs_of_english_and_german_and_its_licence_is_shown(shelf, capsys):
    texts = {"en": "A dog.\nTwo\u2028men.\n", "de": "Ein Hund.\nZwei.\n"}
    shelf("multi30k", {f"train.{kind}.gz": gzip.compress(text.encode()) for kind, text in texts.items()})
    assert data.load("multi30k") == [("A dog.", "Ein Hund."), ("Two\u2028men.", "Zwei.")]
    assert "Flickr30k" in capsys.readouterr().out
    with pytest.raises(UserError, match="no split 'dev'"):
        data.load("multi30k", "dev")


def test_tatoeba_holds_sentences_out_in_both_languages(shelf):
    alike = (
        "I see {} cats.\tIch sehe {} Katzen.",
        "i see {} cats!\tKatzen sehe ich {}.",
        "I can see {} cats.\tIch sehe {} Katzen!",
    )
    rows = [row.format(number, number) for row in alike for number in range(2000)]
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("deu.txt", "\n".join(rows))
    shelf("tatoeba", {"deu-eng.zip": stream.getvalue()})

    def sides(split):
        pairs = data.load("tatoeba", split)
        return [[sentence.lower().strip(".!") for sentence in side] for side in zip(*pairs, strict=True)]

    train, validation, test = map(sides, ("train", "validation", "test"))
    for held in (validation, test):
        assert all(set(known).isdisjoint(side) for known, side in zip(train, held, strict=True))
        assert len(held[0]) == len(set(held[0]))
    assert 20 <= len(validation[0]) <= 70 and 40 <= len(test[0]) <= 130 and len(train[0]) > 5000


def test_makemores_names_lie_where_labs_1_and_2_look_for_them(shelf, monkeypatch, tmp_path):
    shelf("makemore", {"names.txt": b"emma\nolivia\nava"})
    monkeypatch.setattr(names, "MAKEMORE", data.CORPORA["makemore"].files[0])
    assert data.load("makemore") == names.makemore_names() == ["emma", "olivia", "ava"]
    (tmp_path / "mirror").rename(download.cache_folder())
    monkeypatch.delenv("COURSE_DATA_MIRROR")
    assert names.makemore_names() == ["emma", "olivia", "ava"]


def test_the_command_lists_what_there_is_and_an_unknown_corpus_is_answered_with_the_known_ones(capsys):
    assert main([]) == 0
    listed = capsys.readouterr()
    assert "tatoeba" in listed.out and "CC BY" in listed.out and not listed.err
    assert main(["makemore", "wikipedia"]) == 2
    said = capsys.readouterr().err
    assert "no corpus 'wikipedia': choose one of multi30k" in said and said.count("\n") == 1
