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
    "04_tokenizer": {
        "utf8_encode": {
            "limits_off_by_one": 2.5,
            "no_upper_limit": 3,
            "followers_uncut": 2,
            "five_bits_in_the_second": 3,
            "limit_of_two_bytes_off": 3,
            "zero_refused": 3.5,
            "error_returned": 3,
            "assertion_for_value_error": 3,
        },
        "pre_tokenize": {
            "greedy_white_space": 2,
            "capital_endings": 2,
            "ascii_only": 1.5,
            "any_white_space_leads": 2,
            "digits_only": 2.5,
            "signs_without_their_blank": 2,
            "white_space_at_the_end_cut": 2.5,
            "empty_text_a_chunk": 2.5,
            "ending_re_forgotten": 2.5,
            "curly_apostrophe": 2.5,
            "endings_before_a_border_only": 2.5,
        },
        "decode": {
            "token_by_token": 1,
            "ignored_bytes": 1.5,
            "right_before_left": 0.5,
            "table_of_an_earlier_call": 1,
            "merged_tokens_by_themselves": 1,
            "first_merges_taken_apart_first": 0.5,
            "ten_levels_deep": 1.5,
            "ids_taken_apart_in_place": 1.5,
        },
        "count_pairs": {
            "words_count_once": 0.5,
            "without_overlap": 1,
            "across_words": 0.5,
            "sorted_pairs": 1.5,
            "overwritten": 0.5,
            "last_pair_missing": 1,
            "once_a_word": 1,
            "list_of_pairs": 1,
        },
        "train_bpe": {
            "largest_ids_of_a_tie": 4,
            "no_end_without_pairs": 4,
            "counted_only_once": 1,
            "stops_at_one": 4,
            "first_place_only": 2.5,
            "merged_words_at_the_back": 4,
            "ties_by_corrected_counts": 4,
            "one_merge_too_few": 3.5,
            "replaced_as_text": 3.5,
        },
        "encode": {
            "longest_token_first": 1.5,
            "no_chunks": 2.5,
            "leftmost_pair_first": 2,
            "characters_instead_of_bytes": 2,
            "list_for_each_chunk": 2.5,
            "last_chunk_only": 2,
            "two_tokens_never_merged": 3,
            "chunks_of_an_earlier_call": 2,
            "normalized_first": 3,
        },
    },
    "09_blocks": {
        "LayerNorm": {
            "NormWithEpsOutside": 3,
            "NormByMoments": 3,
            "NormWithAFixedEps": 3,
            "NormWithDetachedStatistics": 2.5,
            "NormOfTheWholeTensor": 2,
            "NormOverTheSecondAxis": 2.5,
            "NormWithUnbiasedVariance": 3,
            "NormByAView": 3.5,
        },
        "FeedForward": {
            "ThoughtWithoutBend": 1.5,
            "ThoughtWithAnEarlyBend": 1.5,
            "ThoughtWithABatchOfOne": 2.5,
            "ThoughtWithTwoBends": 1.5,
            "ThoughtWithoutSecondBias": 2,
            "ThoughtForThreeAxes": 2,
            "ThoughtWithDropout": 2,
        },
        "residual": {
            "residual_into_what_was_said": 2,
            "residual_with_the_norm_inside": 1,
            "residual_that_asks_twice": 2,
            "residual_that_norms_twice": 2.5,
            "residual_in_place": 2,
            "residual_detached": 1.5,
            "residual_before": 1,
        },
        "EncoderBlock": {
            "EncoderWithOneNorm": 3.5,
            "EncoderWithDropoutOnce": 4,
            "EncoderWithAnotherEps": 4.5,
            "EncoderWithMaskAsMemory": 3.5,
            "EncoderThatTakesMasksForPadding": 4,
            "EncoderWithDropoutLast": 4,
        },
        "DecoderBlock": {
            "DecoderThatAsksWithItsInput": 3.5,
            "DecoderThatKeepsTheFirstMemory": 3,
            "DecoderWithNormsExchanged": 4,
            "DecoderThatDetachesTheMemory": 3.5,
            "DecoderThatMakesUpAMask": 4,
            "DecoderWithoutMemoryMask": 4,
            "DecoderWithOneSelfMaskForAll": 4,
            "DecoderWithDropoutTwice": 4.5,
        },
    },
    "10_training": {
        "shift_targets": {
            "targets_cut_from_one_row": 2,
            "targets_sorted_by_length": 1.5,
            "targets_with_an_input_of_floats": 2,
            "targets_that_count_what_is_not_pad": 2.5,
            "targets_as_wide_as_the_first": 2,
            "targets_by_index": 2,
            "targets_with_floats_of_an_empty_sentence": 2.5,
            "targets_as_wide_as_the_largest": 1.5,
        },
        "label_smoothing": {
            "smoothing_over_the_wrong_words": 1.5,
            "smoothing_as_wide_as_the_largest_word": 2,
            "smoothing_squeezed": 2,
            "smoothing_from_a_table": 2,
            "smoothing_in_place": 2,
            "smoothing_for_two_axes": 2,
            "smoothing_for_one_axis_at_least": 2.5,
            "smoothing_rounded": 2,
        },
        "masked_cross_entropy": {
            "loss_smoothing_the_padding": 2.5,
            "loss_safe_by_one_maximum": 3,
            "loss_for_two_leading_axes": 3,
            "loss_smoothing_without_pads_word": 3,
            "loss_in_place": 3,
            "loss_with_half_a_gradient": 2.5,
            "loss_without_word_zero": 2,
            "loss_for_pads_up_to_the_vocabulary": 2.5,
        },
        "adam_step": {
            "adam_with_eps_before_the_correction": 3.5,
            "adam_correcting_for_the_usual_betas": 3,
            "adam_with_the_defaults_of_pytorch": 3,
            "adam_that_counts_by_itself": 2,
            "adam_resting_without_a_gradient": 3,
            "adam_with_another_eps": 3.5,
            "adam_whose_v_never_falls": 2,
            "adam_entry_by_entry": 3.5,
            "adam_correcting_only_at_first": 2.5,
        },
        "noam_rate": {
            "noam_that_begins_with_nothing": 1.5,
            "noam_from_a_table": 1,
            "noam_one_step_ahead": 1,
            "noam_with_the_size_in_one_part": 1,
            "noam_rounded": 1.5,
            "noam_from_a_table_of_sizes": 1,
            "noam_in_stairs": 1,
        },
        "train_step": {
            "train_that_clips_each_group": 3,
            "train_that_clips_at_one": 3,
            "train_that_stretches": 2.5,
            "train_with_the_loss_turned_round": 2.5,
            "train_with_the_outer_mode": 3,
            "train_with_the_labels_as_input": 2,
            "train_with_a_new_optimizer": 1.5,
            "train_that_clears_afterwards": 3,
            "train_that_needs_every_gradient": 3,
        },
    },
    "11_decoding": {
        "greedy": {
            "greedy_does_not_pay_for_eos": 2,
            "greedy_takes_the_last_of_equals": 2.5,
            "greedy_with_the_notebooks_eos": 2,
            "greedy_by_a_product": 2.5,
        },
        "temperature_probs": {
            "temperature_upside_down": 0.5,
            "temperature_that_overflows": 1,
            "temperature_as_a_power": 1,
            "temperature_in_place": 1.5,
            "temperature_not_below_a_hundredth": 1.5,
        },
        "top_k": {
            "top_k_by_a_threshold": 3,
            "top_k_keeps_the_last_of_equals": 3,
            "top_k_place_by_place": 3,
            "top_k_with_a_low_number": 3.5,
        },
        "top_p": {
            "top_p_of_one_without_temperature": 3,
            "top_p_stays_below_but_keeps_one": 2.5,
            "top_p_temperature_last": 2.5,
            "top_p_up_to_the_first_sum": 3,
            "top_p_without_the_rarest": 3.5,
        },
        "beam_search": {
            "beam_with_penalty_at_the_end": 5,
            "beam_with_k_live_ones": 4,
            "beam_that_asks_about_all": 6,
            "beam_with_finished_ones_first": 6.5,
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
    "13_beyond": {
        "masked_lm_batch": {
            "padding_too": 2.5,
            "second_draw_of_its_own": 3,
            "never_the_last_word": 3.5,
            "a_fixed_number": 2.5,
            "in_place": 3,
            "a_tenth_of_the_rest": 2.5,
            "rate_of_the_paper": 2.5,
            "a_question_in_each_row": 3,
            "a_fixed_number_a_batch": 2.5,
            "float_targets": 3,
            "never_the_old_word": 3,
            "one_word_a_row": 2.5,
            "two_separate_draws": 2.5,
        },
        "TinyLM": {
            "ScaledEmbeddings": 3,
            "DecoderHearsPadding": 3.5,
            "Probabilities": 2.5,
            "OneBlockRepeated": 1.5,
            "PaddingAsQuery": 2.5,
            "PositionsFromOne": 2,
            "AlwaysTwoBlocks": 3,
            "BlanksMasked": 3.5,
            "LogProbabilities": 4,
            "TiedHead": 4,
            "KeepsTheMask": 3,
            "PaddingAsQueryToo": 3,
        },
        "sparse_mask": {
            "below_the_width": 2,
            "not_stretched": 3,
            "global_columns": 3,
            "unknown_is_none": 3.5,
            "no_wider_than_the_text": 2.75,
            "only_the_future": 3,
            "zeros_and_ones": 1.5,
            "gaps_from_the_edge": 3,
            "one_global_position": 3,
            "one_global_row_too_many": 3.5,
            "no_more_global_than_the_text": 3.5,
            "kinds_in_any_case": 3.5,
            "refuses_what_is_larger": 2.5,
        },
        "patchify": {
            "patches_by_reshape": 0,
            "channels_first": 1.25,
            "patches_by_columns": 0.75,
            "area_checked": 2.25,
            "square_images": 1,
            "view_of_a_view": 2.25,
            "patches_asserted": 2.5,
            "rows_for_columns": 1.5,
            "one_side_is_enough": 2,
            "axes_of_one_are_gone": 2,
        },
        "mel_spectrogram": {
            "symmetric_window": 2.5,
            "magnitudes": 1.5,
            "base_ten": 2,
            "without_the_frame_at_the_end": 2,
            "added_floor": 3,
            "floor_before_the_bands": 3,
            "hop_of_half_a_frame": 2.5,
            "whole_numbers_fail": 3.5,
            "always_twenty_bands": 3.5,
            "always_8000": 3,
            "real_part_alone": 2.5,
            "mean_taken_away": 3,
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
