"""What a teacher hears about a class besides its grades."""

from autograder.run.remarks import look_alikes, remarks


def test_names_that_look_the_same_are_found():
    for other in ("ada\u200b", "a\u00add\u2060a", "Ada", "\uff41da", " ada", "ada\ufeff"):
        assert look_alikes(["bo", "ada", "carla", other]) == [["ada", other]]
    assert look_alikes(["Andr\u00e9", "Andre\u0301"]) == [["Andr\u00e9", "Andre\u0301"]]
    assert not look_alikes(["Andr\u00e9", "Andre", "Andr\u00e8", "ada", "adam"])


def test_the_sentence_shows_the_letters_that_nobody_sees(make_result):
    said = " ".join(remarks("07_self_attention", [make_result("ada"), make_result("ada\u200b")], {}))
    assert "'ada', 'ada\\u200b'" in said


def test_who_is_missing_and_has_something_elsewhere_is_named(make_result):
    nothing = [
        make_result("ada", status="missing", notes=("x lies there.",)),
        make_result("bo", status="missing", notes=()),
    ]
    assert remarks("07_self_attention", nothing, {})[-1].startswith("Nothing was graded of ada, although")
    assert not remarks("07_self_attention", nothing[1:], {})
