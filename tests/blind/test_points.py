"""What a slip costs: about what those thought fair who wrote it blind, and the same under any salt."""

from __future__ import annotations

import pytest

from autograder.course.policy_file import spec
from autograder.testing import run
from tests.audit.one_pass import known_answers

pytestmark = [pytest.mark.filterwarnings("ignore"), pytest.mark.xdist_group("answers")]

#: Points that the author of a wrong answer thought fair, before any was graded: by lab, question and misconception.
FAIR: dict[str, dict[str, dict[str, float]]] = {
    "01_markov_bigram": {
        "normalise_rows": {
            "sums_below_one_left_out": 2,
            "tiny_number_below": 2,
            "counts_changed_in_place": 2,
            "empty_by_the_first_count": 1,
            "first_empty_row_only": 2,
            "columns_normalised": 1,
            "empty_row_even": 2,
            "divided_by_the_largest": 1,
        },
        "transition_matrix": {
            "vocabulary_of_the_pairs": 3,
            "weight_shared_out": 3,
            "weights_in_a_dictionary": 3,
            "across_sentences": 2,
            "weights_ignored": 2,
        },
        "second_order": {
            "second_order_overwritten": 2,
            "second_order_without_short_sentences": 3,
            "second_order_once_a_sentence": 3,
            "second_order_weights_in_a_dictionary": 3,
            "second_order_divided_by_occurrences": 2.5,
            "context_backwards": 2,
            "final_pairs_kept": 3,
        },
        "bigram_counts": {
            "overlaps_missed": 2,
            "counts_of_eight_bits": 2,
            "counts_of_sixteen_bits": 2,
            "one_letter_names_left_out": 2.5,
            "empty_name_left_out": 2.5,
            "distinct_names_only": 2,
            "no_end": 2,
            "one_table_for_all_calls": 2,
        },
        "sample_name": {
            "cut_off": 2,
            "without_putting_back": 2,
            "own_randomness": 2,
            "never_leaves_the_start": 1,
            "takes_the_largest": 0,
        },
        "average_nll": {
            "product_first": 2,
            "rare_is_impossible": 2,
            "tiny_is_impossible": 2.5,
            "product_of_a_name": 2,
            "distinct_steps_of_a_name": 1.5,
            "averaged_over_names": 1,
            "divided_by_letters": 2,
            "impossible_steps_left_out": 2,
        },
    },
}

SALTS = ("one", "two", "three", "four", "five")


@pytest.mark.parametrize("lab", FAIR)
def test_a_labs_slips_keep_in_sum_what_their_authors_thought_fair(lab):
    given = sum(known_answers(lab, q).points[name] for q, slips in FAIR[lab].items() for name in slips)
    assert given == pytest.approx(sum(sum(slips.values()) for slips in FAIR[lab].values()), rel=0.1)


@pytest.mark.parametrize("lab", FAIR)
def test_no_slip_takes_all_points_of_a_question_that_it_leaves_mostly_right(lab):
    points = dict(spec(lab).questions)
    kept = {(q, name): known_answers(lab, q).points[name] for q in FAIR[lab] for name in FAIR[lab][q]}
    mostly_right = [(q, name) for q, name in kept if FAIR[lab][q][name] >= points[q] / 2]
    assert [(q, name) for q, name in mostly_right if kept[q, name] < points[q] / 4] == []


@pytest.mark.proof
@pytest.mark.parametrize("lab", FAIR)
def test_the_same_mistake_gets_the_same_points_under_any_salt(lab):
    points: dict[tuple[str, str], set[float]] = {}
    before = run._salt
    for salt in SALTS:
        run.set_salt(salt)
        for question in FAIR[lab]:
            for name, kept in known_answers(lab, question).points.items():
                points.setdefault((question, name), set()).add(kept)
    run.set_salt(before)
    assert {answer: kept for answer, kept in points.items() if len(kept) > 1} == {}
