"""What a slip costs: about what those thought fair who wrote it blind, and the same under any salt."""

from __future__ import annotations

import warnings
from functools import cache

import pytest

from autograder.course.policy_file import spec
from autograder.testing.catalogue import answers_of
from autograder.testing.run import earned, run_question, student_with_answer

#: Points that the author of a wrong answer thought fair, before any was graded: by lab, question and misconception.
FAIR: dict[str, dict[str, dict[str, float]]] = {
    "00_warm_up": {
        "one_hot": {
            "squeezed": 2.5,
            "ids_changed_in_place": 3,
            "single_id_as_a_sentence": 3,
            "one_table_for_a_shape": 2,
            "all_words_in_each_row": 1,
            "only_pythons_numbers": 3.5,
            "ids_of_eight_bits": 3,
            "ids_from_one": 1,
        },
        "lookup": {
            "zeros_and_ones_for_one_hot": 2,
            "as_whole_as_the_table": 2,
            "summed_over_the_second_axis": 1.5,
            "negative_weights_left_out": 2,
            "transposed_and_back": 2,
            "weights_rescaled_where_any": 1,
            "small_weights_for_zero": 2.5,
        },
        "logsumexp": {
            "mean_taken_out": 2.5,
            "impossible_counted_as_zero": 3.5,
            "largest_absolute_taken_out": 3,
            "made_for_two_axes": 3.5,
            "impossible_replaced_in_place": 4,
            "smallest_taken_out": 2,
            "first_axis_by_default": 4,
            "maximum_of_the_whole_table": 3.5,
        },
        "softmax": {
            "as_whole_as_the_scores": 3,
            "rounded_to_three_decimals": 3,
            "softmax_for_two_axes": 3,
            "maximum_only_above_700": 3,
            "differences_cut_off": 3.5,
            "softmax_with_one_maximum": 3,
            "softmax_first_axis_by_default": 3,
        },
        "cross_entropy": {
            "halved_with_each_position": 1.5,
            "price_with_one_maximum": 3,
            "prices_of_earlier_calls": 1.5,
            "scores_cut_off": 3,
            "small_number_added": 2.5,
            "prices_as_whole_as_the_scores": 3,
            "median_of_the_prices": 1.5,
        },
    },
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
    "02_dirichlet_map": {
        "beta_posterior": {
            "half_when_a_knob_is_one": 2,
            "knobs_cut": 2,
            "mode_and_mean_exchanged": 1.5,
            "half_without_tosses": 2,
        },
        "dirichlet_map": {
            "second_axis_normalised": 1.5,
            "empty_row_even": 2,
            "map_in_place": 2.5,
            "one_knob_for_all_below": 2,
        },
        "dirichlet_mean": {
            "always_27_outcomes": 1,
            "rows_for_outcomes": 1,
            "empty_rows_stay_zero": 2,
            "mean_of_the_whole_table": 1,
        },
        "choose_alpha": {
            "judged_the_map": 1,
            "divided_by_cells": 2,
            "last_of_equals": 2.5,
            "averaged_over_cells": 1,
        },
        "interpolate": {
            "without_keepdims": 1,
            "alpha_for_every_outcome_below": 1.5,
            "axis_before_the_last": 2,
            "nan_for_the_unseen": 2,
        },
        "pwm_scores": {
            "last_window_missing": 2.5,
            "repeated_sites_once": 3,
            "background_from_the_sequence": 2,
            "no_room_for_a_window": 3,
        },
    },
    "03_votes_to_attention": {
        "count_features": {
            "pairs_without_a_next_word": 3.5,
            "only_the_last_eight": 3,
            "repeated_words_once": 3.5,
            "counts_of_earlier_calls": 3.5,
            "as_many_words_as_occur": 4,
            "counts_of_eight_bits": 4,
        },
        "skip_votes": {
            "current_word_silent": 2,
            "eight_voters_at_most": 2,
            "unseen_pairs_without_a_row": 2,
            "history_cut_short": 2,
            "neighbouring_pairs": 1,
        },
        "mask_votes": {
            "any_weight_counts_in_full": 1.5,
            "weights_cut_to_whole_numbers": 2.5,
            "votes_overwritten": 2,
            "bare_zero_without_voters": 2.5,
            "totals_rounded": 2,
            "divided_by_the_largest_weight": 1.5,
        },
        "mask_lookup": {
            "only_the_strongest": 1,
            "one_query_only": 1,
            "large_queries_rescaled": 1,
            "query_cut_to_whole_numbers": 1.5,
            "masks_cut_off_at_one": 1,
            "table_of_yes_and_no": 1,
            "query_rescaled": 1,
        },
        "pair_features": {
            "bias_set_to_one": 2,
            "leaky": 1.5,
            "rows_only": 2.5,
            "features_rounded": 2,
            "cut_off_at_six": 2,
            "relu_before_the_sum": 1,
        },
        "feed_forward": {
            "relu_at_the_end_too": 2,
            "largest_of_the_rows": 2,
            "batch_flattened": 3,
            "small_features_lost": 2.5,
            "features_cut_to_whole_numbers": 3,
            "x_added_to_the_votes": 3,
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
    "05_word2vec": {
        "context_windows": {
            "drops_equal_words_and_keeps_the_riddle": 1.5,
            "nothing_on_the_left_at_first": 1.5,
            "lone_word_kept": 2.5,
            "first_equal_word_removed": 2,
            "one_too_few_and_empty_contexts": 1,
            "slice_from_behind": 1.5,
            "false_words_lost": 2,
        },
        "cbow_forward": {
            "each_hint_once": 2,
            "softmax_that_overflows": 2,
            "hints_added_in_the_table": 2,
            "forward_rounded": 2,
            "sum_of_hints": 2,
            "divided_by_two": 1.5,
            "scores_from_w_in": 1.5,
        },
        "cbow_backward": {
            "repeated_hint_once": 3.5,
            "mean_forgotten": 3.5,
            "shared_among_different_words": 4,
            "no_share_for_the_target": 3.5,
            "sign_reversed": 3,
            "hints_from_p": 3,
            "backward_that_overflows": 4,
        },
        "negative_sampling_loss": {
            "small_number_in_the_logarithm": 3.5,
            "gradients_averaged_over_the_batch": 3.5,
            "five_noise_words_at_most": 4,
            "sigmoid_that_overflows": 4,
            "overflow": 3.5,
            "loss_of_the_noise_as_real": 3.5,
            "noise_turned_round_in_place": 4,
        },
        "nearest": {
            "first_of_the_ranking_dropped": 1.5,
            "length_of_the_whole_table": 0.5,
            "itself_at_the_end": 1.5,
            "table_brought_to_length_one": 1.5,
            "own_neighbour": 1,
            "one_length_only": 1,
            "own_cosine_of_minus_one": 1.5,
            "nearest_last": 1,
        },
        "analogy": {
            "lengths_kept": 1,
            "b_is_an_answer": 1,
            "sum_not_normalised": 1.5,
            "too_few_to_leave_out_from": 1.5,
            "left_out_of_the_k_best": 1,
            "answers_in_place": 1.5,
            "backwards": 0.5,
            "question_words_at_the_end": 1.5,
        },
    },
    "06_positions": {
        "binary_code": {
            "halved_in_place": 3,
            "numbers_of_eight_bits": 2.5,
            "axes_of_p_turned_round": 3,
            "values_of_the_bits": 2,
            "one_place_too_far": 2,
            "bits_after_the_first_axis": 3,
            "numbers_of_thirty_two_bits": 3.5,
            "codes_squeezed": 3,
        },
        "sinusoidal": {
            "odd_rounded_up": 4.5,
            "own_frequency_for_each_column": 3,
            "table_kept_by_its_size": 4,
            "positions_squeezed": 5,
            "half_the_exponent": 3.5,
            "own_frequency_doubled": 3,
            "last_column_a_cosine": 4.5,
            "last_clock_at_base": 3,
            "base_above_one": 5,
            "first_rows_of_a_table": 5,
        },
        "shift_matrix": {
            "cut_to_whole_steps": 3,
            "shift_base_ignored": 3,
            "always_forwards": 3.5,
            "one_turn_for_all_clocks": 3,
            "moves_backwards": 3,
            "halves_instead_of_pairs": 3,
            "shift_exponent_of_the_column": 3,
            "matrix_overwritten": 3.5,
        },
        "rope": {
            "rope_in_place": 3.5,
            "turned_clockwise": 3,
            "as_whole_as_x": 4,
            "rope_for_two_axes": 3,
            "halves_paired": 3,
            "overwritten_while_turning": 2.5,
            "looked_up_in_a_table": 3,
            "x_itself_where_nothing_turns": 4.5,
        },
    },
    "07_self_attention": {
        "kernel_smooth": {
            "sigma_not_squared": 2,
            "kernel_with_a_small_constant": 2,
            "kernel_for_sorted_dots": 2,
            "kernel_that_shifts_the_heights": 2,
            "kernel_normalised_over_queries": 1,
            "kernel_without_the_two": 2,
            "kernel_as_whole_as_the_queries": 2.5,
            "kernel_for_as_many_queries_as_dots": 1.5,
            "kernel_cut_off": 2,
            "kernel_with_one_maximum": 2.5,
            "kernel_with_one_nearest_dot": 2.5,
        },
        "scaled_dot_product_attention": {
            "attention_masked_after_the_softmax": 3,
            "softmax_over_queries": 2,
            "attention_mask_with_minus_a_hundred": 4,
            "attention_for_one_leading_axis": 4,
            "attention_that_centres_the_keys": 4,
            "attention_scaled_by_d": 4,
            "attention_scaled_by_the_second_axis": 3,
            "attention_mask_as_an_index": 4,
            "attention_mask_with_an_axis_for_heads": 4,
            "attention_mask_with_minus_ten_thousand": 4.5,
            "attention_with_rounded_weights": 4,
            "attention_with_one_maximum": 4,
        },
        "causal_mask": {
            "causal_mask_without_the_diagonal": 1,
            "causal_mask_transposed": 0.5,
            "causal_mask_of_numbers": 1,
            "causal_mask_squeezed": 1.5,
            "causal_mask_from_a_table": 1.5,
            "causal_mask_kept": 1.5,
            "causal_mask_one_too_far": 1,
        },
        "padding_mask": {
            "padding_mask_one_too_many": 1,
            "padding_mask_inverted": 1,
            "padding_mask_without_the_middle_axis": 1,
            "padding_mask_that_pops": 1.5,
            "padding_mask_squeezed": 1,
            "padding_mask_for_the_first_of_each_length": 1,
            "padding_mask_where_nothing_is_everything": 1.5,
            "padding_mask_sorted": 1,
            "padding_mask_as_wide_as_the_longest": 1,
        },
        "additive_attention": {
            "additive_that_scales": 3,
            "additive_softmax_over_queries": 2,
            "additive_mask_with_minus_ten": 3,
            "additive_for_one_leading_axis": 3,
            "additive_tanh_before_the_sum": 2,
            "additive_masked_after_the_softmax": 3,
            "additive_mask_with_a_bound": 3,
            "additive_for_a_batch_only": 2.5,
            "additive_that_overflows": 3.5,
            "additive_squeezed": 3,
        },
        "attention_backward": {
            "backward_scales_only_q": 3,
            "backward_without_the_mean": 2,
            "backward_for_one_leading_axis": 3,
            "backward_that_writes_over_the_weights": 3,
            "backward_with_weights_of_its_own": 3,
            "backward_mean_over_queries": 2.5,
            "backward_scaled_by_the_second_axis": 3,
            "backward_as_whole_as_the_inputs": 3.5,
            "backward_without_small_weights": 3.5,
        },
    },
    "08_multi_head": {
        "split_heads": {
            "split_by_reshape": 0,
            "split_interleaved": 0,
            "split_with_the_batch_behind": 1,
            "split_into_heads_of_size_h": 0.5,
        },
        "merge_heads": {
            "merge_by_reshape": 0,
            "merge_interleaved": 0,
            "merge_with_heads_as_words": 0.5,
            "merge_with_the_words_first": 0.75,
        },
        "multi_head_attention": {
            "heads_with_values_of_x": 2,
            "heads_with_a_bare_mask": 3,
            "heads_scaled_by_the_model": 2,
            "heads_with_values_as_wide_as_keys": 4,
            "heads_masked_after_the_softmax": 2.5,
            "heads_with_softmax_over_queries": 0,
        },
        "MultiHeadAttention": {
            "ModuleWithoutBias": 3,
            "ModuleWithoutMask": 3.5,
            "ModuleWithOneLayerForKeysAndValues": 1.5,
            "ModuleWithDropout": 3,
            "ModuleWithoutLastLayer": 2,
            "ModuleWithoutMaskOfTheMemory": 4,
        },
        "attention_maps": {
            "maps_under_the_loops_last_name": 1,
            "maps_with_hooks_left": 1.5,
            "maps_not_detached": 1.5,
            "maps_of_children": 1,
            "maps_in_evaluation_mode": 1.5,
            "maps_of_two_runs": 1.75,
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
        },
        "Transformer": {
            "TransformerWithScaledPositions": 5,
            "TransformerWithAMaskForOne": 5,
            "TransformerWhoseEncoderCannotLookAhead": 5,
            "TransformerWithASmallTargetTable": 6,
            "TransformerOfUnstackedBlocks": 5,
        },
        "translate": {
            "translate_without_the_last_word": 3,
            "translate_without_unknown_words": 3,
            "translate_with_logits": 2,
            "translate_with_eos_at_the_source": 3,
            "translate_without_a_cache": 2,
        },
        "cached_attention": {
            "without_the_last_layer": 3,
            "cache_that_grows_in_place": 3,
            "cache_of_vectors": 2,
            "cache_of_flat_rows": 3,
            "deaf_to_itself": 2,
        },
        "bleu": {
            "bleu_without_clipping": 2,
            "bleu_clipped_by_the_corpus": 2,
            "bleu_that_rewards_brevity": 2,
            "bleu_that_divides_by_nothing": 2,
            "bleu_of_joined_words": 2,
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
        },
        "TinyLM": {
            "ScaledEmbeddings": 3,
            "DecoderHearsPadding": 3.5,
            "Probabilities": 2.5,
            "OneBlockRepeated": 1.5,
            "PaddingAsQuery": 2.5,
            "PositionsFromOne": 2,
            "AlwaysTwoBlocks": 3,
        },
        "sparse_mask": {
            "below_the_width": 2,
            "not_stretched": 3,
            "global_columns": 3,
            "unknown_is_none": 3.5,
            "no_wider_than_the_text": 2.75,
            "only_the_future": 3,
            "zeros_and_ones": 1.5,
        },
        "patchify": {
            "patches_by_reshape": 0,
            "channels_first": 1.25,
            "patches_by_columns": 0.75,
            "area_checked": 2.25,
            "square_images": 1,
            "view_of_a_view": 2.25,
            "patches_asserted": 2.5,
        },
        "mel_spectrogram": {
            "symmetric_window": 2.5,
            "magnitudes": 1.5,
            "base_ten": 2,
            "without_the_frame_at_the_end": 2,
            "added_floor": 3,
            "floor_before_the_bands": 3,
            "hop_of_half_a_frame": 2.5,
        },
    },
}

SALTS = ("one", "two", "three", "four", "five")


def _points(lab: str, question: str, name: str) -> float:
    answer = next(a for a in answers_of(lab)["misconception"][question] if a.name == name)
    runs = run_question(lab, question, student_with_answer(lab, question, answer.function))
    return earned(dict(spec(lab).questions)[question], [(run.test.weight, run.result.passed) for run in runs])


@cache
def _kept(lab: str) -> dict[tuple[str, str], tuple[float, ...]]:
    """The points of each wrong answer of a lab under each salt."""
    kept: dict[tuple[str, str], tuple[float, ...]] = {}
    with warnings.catch_warnings(), pytest.MonkeyPatch.context() as patch:
        warnings.simplefilter("ignore")
        for salt in SALTS:
            patch.setattr("autograder.testing.run._salt", salt)
            for question, slips in FAIR[lab].items():
                for name in slips:
                    before = kept.get((question, name), ())
                    kept[question, name] = (*before, _points(lab, question, name))
    return kept


@pytest.mark.parametrize("lab", FAIR)
def test_the_same_mistake_gets_the_same_points_under_any_salt(lab):
    assert {slip: points for slip, points in _kept(lab).items() if len(set(points)) > 1} == {}


@pytest.mark.parametrize("lab", FAIR)
def test_a_labs_slips_keep_in_sum_what_their_authors_thought_fair(lab):
    fair = sum(points for slips in FAIR[lab].values() for points in slips.values())
    given = sum(points[0] for points in _kept(lab).values())
    assert given == pytest.approx(fair, rel=0.1)


@pytest.mark.parametrize("lab", FAIR)
def test_no_slip_takes_all_points_of_a_question_that_it_leaves_mostly_right(lab):
    points = dict(spec(lab).questions)
    mostly_right = [
        (question, name)
        for question, slips in FAIR[lab].items()
        for name, fair in slips.items()
        if fair >= points[question] / 2
    ]
    assert [slip for slip in mostly_right if min(_kept(lab)[slip]) < points[slip[0]] / 4] == []
