"""The optional corpora against a real HTTP server that stalls, truncates, corrupts and refuses."""

from __future__ import annotations

import gzip
import hashlib
import io
import socket
import threading
import zipfile
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from coursekit import data
from coursekit.data import corpora, download, names
from coursekit.data.__main__ import main
from coursekit.data.download import Remote, fetch
from coursekit.errors import MissingFile, UserError

CONTENT = bytes(range(256)) * 800  # 204,800 bytes: several blocks


class _Server(ThreadingHTTPServer):
    """Serves ``content``; ``faults`` holds what goes wrong with each next request, ``log`` what was asked."""

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), _Handler)
        self.content, self.faults, self.log = CONTENT, [], []
        self.let_go = threading.Event()

    @property
    def address(self):
        return f"http://127.0.0.1:{self.server_address[1]}"


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        server = self.server
        fault = server.faults.pop(0) if server.faults else ""
        server.log.append(self.path)
        if isinstance(fault, int):
            return self.send_error(fault)
        body = server.content
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if fault == "corrupt":
            body = body[:-1] + bytes([body[-1] ^ 1])
        if fault in ("truncate", "stall"):
            self.close_connection = True
            body = body[: len(body) // 2]
        self.wfile.write(body)
        if fault == "stall":
            self.wfile.flush()
            server.let_go.wait(60)
        return None

    def log_message(self, *_):
        pass


@pytest.fixture
def server(monkeypatch, tmp_path):
    monkeypatch.setenv("COURSE_DATA_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(download, "_PAUSE", 0.01)
    for variable in ("COURSE_DATA_MIRROR", "http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(variable, raising=False)
    server = _Server()
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
    yield server
    server.let_go.set()
    server.shutdown()
    server.server_close()


def _remote(server, name="shelf/book.bin"):
    sha = hashlib.sha256(CONTENT).hexdigest()
    return Remote(name, f"{server.address}/public/{name}", sha, len(CONTENT))


def _nothing_half_written(path):
    return path.read_bytes() == CONTENT and not path.with_name(path.name + ".part").exists()


def test_a_file_is_fetched_once_and_then_read_from_the_cache_unless_it_was_changed(server):
    path = fetch(_remote(server))
    assert _nothing_half_written(path)
    assert fetch(_remote(server)) == path and len(server.log) == 1
    path.write_bytes(CONTENT[:-1])
    assert _nothing_half_written(fetch(_remote(server)))
    assert len(server.log) == 2


def test_what_goes_wrong_once_is_tried_again(server, monkeypatch):
    for asked, fault in enumerate(("truncate", "stall", "corrupt", 503), start=1):
        monkeypatch.setattr(download, "_TIMEOUT", 2 if fault == "stall" else 60)
        server.faults = [fault]
        path = fetch(_remote(server))
        assert _nothing_half_written(path) and len(server.log) == 2 * asked, fault
        path.unlink()


def test_what_always_goes_wrong_is_one_sentence_and_leaves_nothing(server):
    asked = 0
    for faults, content, reason, times in (
        ([404], CONTENT, "answered 404", 1),
        (["truncate"] * 4, CONTENT, "broke off", 4),
        ([], CONTENT[::-1], "another checksum", 4),
    ):
        server.faults, server.content, asked = faults, content, asked + times
        with pytest.raises(MissingFile, match=reason):
            fetch(_remote(server))
        assert list(download.cache_folder().rglob("book*")) == [] and len(server.log) == asked


def test_nobody_there_and_a_cache_that_cannot_be_made_are_a_sentence_that_says_what_to_do(
    server, monkeypatch, tmp_path
):
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        unused = f"http://127.0.0.1:{probe.getsockname()[1]}/b.txt"
    with pytest.raises(FileNotFoundError) as raised:
        fetch(Remote("a/b.txt", unused, "0" * 64, 5))
    said = str(raised.value)
    assert "refused the connection" in said and "COURSE_DATA_MIRROR" in said and "\n" not in said
    with pytest.raises(MissingFile, match="there is no network"):
        fetch(Remote("a/b.txt", "http://no-such-host.invalid/b.txt", "0" * 64, 5))
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("COURSE_DATA_CACHE", str(tmp_path / "file"))
    with pytest.raises(MissingFile, match="COURSE_DATA_CACHE"):
        fetch(_remote(server))


def test_a_mirror_is_asked_first_and_the_public_address_after_it(server, monkeypatch, tmp_path):
    mirror = tmp_path / "mirror" / "shelf"
    mirror.mkdir(parents=True)
    (mirror / "book.bin").write_bytes(CONTENT)
    monkeypatch.setenv("COURSE_DATA_MIRROR", str(tmp_path / "mirror"))
    assert fetch(_remote(server)) == mirror / "book.bin"
    assert server.log == []
    (mirror / "book.bin").write_bytes(b"something else")
    cached = fetch(_remote(server))
    assert cached == tmp_path / "cache" / "shelf" / "book.bin"
    cached.unlink()
    monkeypatch.setenv("COURSE_DATA_MIRROR", f"{server.address}/mirror/")
    server.faults = [404]
    assert _nothing_half_written(fetch(_remote(server)))
    assert server.log[1:] == ["/mirror/shelf/book.bin", "/public/shelf/book.bin"]


# The corpora, from small files in their formats.


@pytest.fixture
def shelf(server, monkeypatch, tmp_path):
    """Small files under the corpora's names in a mirror folder, and the table of corpora with their checksums."""
    mirror = tmp_path / "mirror"
    monkeypatch.setenv("COURSE_DATA_MIRROR", str(mirror))

    def put(name, **files):
        corpus = data.CORPORA[name]
        remotes = []
        for remote in corpus.files:
            stem = remote.name.split("/")[1]
            content = files.get(stem.replace(".", "_").replace("-", "_"), b"")
            content = gzip.compress(content) if stem.endswith(".gz") else content
            (mirror / remote.name).parent.mkdir(parents=True, exist_ok=True)
            (mirror / remote.name).write_bytes(content)
            sha = hashlib.sha256(content).hexdigest()
            remotes.append(Remote(remote.name, "http://127.0.0.1:9/", sha, len(content)))
        small = corpora.Corpus(corpus.title, corpus.about, corpus.licence, tuple(remotes))
        monkeypatch.setitem(data.CORPORA, name, small)

    return put


def test_multi30k_is_pairs_of_english_and_german_and_its_licence_is_shown(shelf, capsys):
    shelf("multi30k", train_en_gz="A dog.\nTwo\u2028men.\n".encode(), train_de_gz=b"Ein Hund.\nZwei.\n")
    assert data.load("multi30k") == [("A dog.", "Ein Hund."), ("Two\u2028men.", "Zwei.")]
    assert "Flickr30k" in capsys.readouterr().out
    with pytest.raises(UserError, match="no split 'dev'"):
        data.load("multi30k", "dev")


def test_tatoeba_holds_sentences_out_in_both_languages(shelf):
    rows = [f"I see {number} cats.\tIch sehe {number} Katzen." for number in range(2000)]
    rows += [f"i see {number} cats!\tKatzen sehe ich {number}." for number in range(2000)]
    rows += [f"I can see {number} cats.\tIch sehe {number} Katzen!" for number in range(2000)]
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("deu.txt", "\n".join(rows))
    shelf("tatoeba", deu_eng_zip=stream.getvalue())
    parts = {split: data.load("tatoeba", split) for split in ("train", "validation", "test")}

    def key(sentence):
        return sentence.lower().strip(".!")

    for held in ("validation", "test"):
        for side in (0, 1):
            known = {key(pair[side]) for pair in parts["train"]}
            assert known.isdisjoint(key(pair[side]) for pair in parts[held])
        english = [key(pair[0]) for pair in parts[held]]
        assert len(english) == len(set(english))
    assert 20 <= len(parts["validation"]) <= 70 and 40 <= len(parts["test"]) <= 130
    assert len(parts["train"]) > 5000


def test_makemores_names_lie_where_labs_1_and_2_look_for_them(shelf, server, monkeypatch):
    assert data.CORPORA["makemore"].files[0].sha256 == names.MAKEMORE_SHA256
    shelf("makemore", names_txt=b"emma\nolivia\nava")
    assert data.load("makemore") == ["emma", "olivia", "ava"]
    server.content = b"emma\nolivia\nava"
    small = data.CORPORA["makemore"].files[0]
    monkeypatch.delenv("COURSE_DATA_MIRROR")
    path = fetch(Remote(small.name, f"{server.address}/", small.sha256, small.size))
    monkeypatch.setattr(names, "MAKEMORE_SHA256", small.sha256)
    assert path == download.cache_folder() / "names" / "names.txt"
    assert names.makemore_names() == ["emma", "olivia", "ava"]


def test_the_command_lists_what_there_is_and_an_unknown_corpus_is_answered_with_the_known_ones(capsys):
    assert main([]) == 0
    listed = capsys.readouterr()
    assert "tatoeba" in listed.out and "CC BY" in listed.out and not listed.err
    assert main(["makemore", "wikipedia"]) == 2
    said = capsys.readouterr().err
    assert "no corpus 'wikipedia'; there are multi30k" in said and said.count("\n") == 1
