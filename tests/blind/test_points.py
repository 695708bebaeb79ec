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
    "12_translator": {
        "make_batch": {
            "batch_with_eos_at_the_source": 1,
            "batch_of_one_width": 1,
            "batch_sorted_by_length": 1,
            "batch_that_pads_the_lists": 1,
            "batch_with_eos_at_the_very_end": 1,
            "batch_that_gives_eos": 1,
            "batch_squeezed": 1.5,
            "batch_without_unknown_words": 1.5,
            "batch_of_known_words": 1.5,
            "batch_with_labels_full_of_eos": 1,
        },
        "Transformer": {
            "TransformerWithScaledPositions": 5,
            "TransformerWithAMaskForOne": 5,
            "TransformerWhoseEncoderCannotLookAhead": 5,
            "TransformerWithASmallTargetTable": 6,
            "TransformerOfUnstackedBlocks": 5,
            "TransformerWithTheRootInTheEncoder": 5.5,
            "TransformerWhoseDecoderHearsPadding": 5,
            "TransformerThatHidesUnknownWords": 6,
            "TransformerThatDropsWords": 6,
            "TransformerWithAMaskOnItself": 6,
            "DecoderOfFourHeads": 6,
        },
        "translate": {
            "translate_without_the_last_word": 3,
            "translate_without_unknown_words": 3,
            "translate_with_logits": 2,
            "translate_with_eos_at_the_source": 3,
            "translate_without_a_cache": 2,
            "translate_with_an_encoder_in_training": 3,
            "translate_with_gradients_of_the_encoder": 3.5,
            "translate_with_one_word_more": 3.5,
        },
        "cached_attention": {
            "without_the_last_layer": 3,
            "cache_that_grows_in_place": 3,
            "cache_of_vectors": 2,
            "cache_of_flat_rows": 3,
            "deaf_to_itself": 2,
            "newest_first": 3,
            "cache_on_the_layer": 2.5,
            "with_the_root_of_the_model": 3,
            "with_the_way_around": 3,
        },
        "bleu": {
            "bleu_without_clipping": 2,
            "bleu_clipped_by_the_corpus": 2,
            "bleu_that_rewards_brevity": 2,
            "bleu_that_divides_by_nothing": 2,
            "bleu_of_joined_words": 2,
            "bleu_without_the_empty": 2.5,
            "bleu_without_marks": 2,
            "bleu_rounded": 2.5,
            "bleu_with_one_n_gram_at_least": 2,
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
