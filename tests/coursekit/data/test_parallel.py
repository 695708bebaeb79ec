"""The built-in corpus as the kit loads it: files as they were made, and words cut where a learner cuts them."""

import hashlib

import pytest
from coursekit import data
from coursekit.data import parallel
from coursekit.errors import UserError


def test_a_capital_goes_only_where_it_marks_the_start_tokens_join_again_and_files_are_as_they_were_made():
    assert " ".join(parallel.tokenize("I saw Anna, and the Cat?")) == "I saw Anna , and the Cat ?"
    assert parallel.tokenize("Die Katze ist in Berlin.") == ["die", "Katze", "ist", "in", "Berlin", "."]
    for pair in parallel.load("valid"):
        assert [parallel.detokenize(parallel.tokenize(text)) for text in pair] == list(pair)
    with pytest.raises(UserError, match="test_coreference"):
        parallel.load("dev")
    for line in data.path("parallel/SHA256SUMS").read_text().splitlines():
        expected, name = line.split()
        assert hashlib.sha256(data.path(f"parallel/{name}").read_bytes()).hexdigest() == expected, name
