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
    "04_tokenizer": {
        "utf8_encode": {
            "limits_off_by_one": 2.5,
            "no_upper_limit": 3,
            "followers_uncut": 2,
            "five_bits_in_the_second": 3,
        },
        "pre_tokenize": {
            "greedy_white_space": 2,
            "capital_endings": 2,
            "ascii_only": 1.5,
            "any_white_space_leads": 2,
        },
        "decode": {
            "token_by_token": 1,
            "ignored_bytes": 1.5,
            "right_before_left": 0.5,
            "table_of_an_earlier_call": 1,
        },
        "count_pairs": {
            "words_count_once": 0.5,
            "without_overlap": 1,
            "across_words": 0.5,
            "sorted_pairs": 1.5,
        },
        "train_bpe": {
            "largest_ids_of_a_tie": 4,
            "no_end_without_pairs": 4,
            "counted_only_once": 1,
            "stops_at_one": 4,
        },
        "encode": {
            "longest_token_first": 1.5,
            "no_chunks": 2.5,
            "leftmost_pair_first": 2,
            "characters_instead_of_bytes": 2,
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
