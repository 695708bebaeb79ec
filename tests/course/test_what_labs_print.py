"""What a lab's text says about its own numbers stands in the outputs of the built notebook."""

from __future__ import annotations

import json
import re

import pytest

from autograder.course.build import solution_notebook

CLAIMS = {
    "01_markov_bigram": [
        "28 ln 28   93.30",
        "27 rows of 27: 88.99",
        "59.82",
        "2.45401",
        "these 1,000 names: counted 2.338, learned 2.343",
        "all names:         counted inf, learned 2.5",
    ],
    "02_dirichlet_map": [
        "α = 0.01 gives 2.4535, α = 1 gives 2.4533, α = 100 gives 2.5544",
        "2.548    2.474         2.456                 2.375",
        "3,079 of 22,858 unseen tokens have probability zero",
        "358 lines, 265 different sites: prior odds 1 to 17,515",
        "start  10  likelihood ratio   122,762  probability of a site 0.87",
        "start  82  likelihood ratio        63  probability of a site 0.00",
    ],
    "03_votes_to_attention": [
        "rows of all other words: 0.0",
        "'please': 0.89",
        "16 sentences read, 112 new ones: all vote 66% right, learned mask 100%",
    ],
    "04_tokenizer": ["36 tokens; the slide's numbers, one by one: True", "GPT-2: 146", "GPT-4: 96"],
    "06_positions": ["M₋₃ by hand: 1.00 → 1.00", "RoPE: 0.96 → 0.94", "sinusoids: 0.96 → 0.34", "learned table, filled in: 1.00 → 0.03"],
    "07_self_attention": ["own kind, sees places and kinds: weight on the right word 0.21 at first, 0.95 at the end"],
    "08_multi_head": ["h = 1: error 0.67", "h = 2: error 0.33", "h = 3: error 0.00", "h = 1, twice as wide: error 0.64"],
    "09_blocks": [
        "nn.Linear, no norm, without skips: at the input 1.3e-07, at W_O",
        "after twelve layers: your blocks 0.48, attention with Add & Norm alone (biases 0) 0.21",
    ],
    "10_training": ["0.045: 0.20, 0.20", "0.1: 0.17, 5.82", "the shift forgotten                               100%"],
    "12_translator": [
        "597 English words, 1053 German words",
        "The dog bites the man.                                       Der Hund beißt den Mann.",
        "es (10.2), sie (3.6)",
        "sie (9.8), es (2.7)",
        "after block 1   the likeliest of er, sie, es is right in 27% of 240 sentences",
    ],
    "11_decoding": [
        "that have such a letter 32% stand in the list, of the others 59%",
        "empty name -9.24, of greedy's -9.61; mean length of the 29,910 names 6.2",
    ],
    "13_beyond": ["local    7", "dilated  never", "32 bands: 736 of 918", "without the loudness: 803", "8 cepstral numbers: 811"],
}  # fmt: skip


def _printed(lab: str) -> str:
    """All texts that the cells of a built notebook show, figures' words included; tags of HTML left out."""
    texts = []
    for cell in json.loads(solution_notebook(lab).read_text(encoding="utf-8"))["cells"]:
        for output in cell.get("outputs", []):
            data = output.get("data", {})
            shown = [output.get("text", ""), data.get("text/plain", ""), data.get("text/html", "")]
            texts += ["".join(text) for text in shown]
    return re.sub(r"<[^>]+>", "", "\n".join(texts))


@pytest.mark.proof  # built notebooks change only with their masters, and every run compares the two
def test_the_numbers_of_the_text_are_printed():
    printed = {lab: _printed(lab) for lab in CLAIMS}
    assert [claim for lab, claims in CLAIMS.items() for claim in claims if claim not in printed[lab]] == []


def test_twenty_observations_are_best_of_the_six_for_every_number_of_names():
    assert re.findall(r"best: (\d+)", _printed("02_dirichlet_map")) == ["20", "20", "20"]
