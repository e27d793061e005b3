"""The answer to a retrieval, and what the model was shown."""

from __future__ import annotations

from ragnostic.gateway.span_answers import around, outcome_of
from ragnostic.gateway.span_reading import Reading, SpanHit, plain
from ragnostic.gateway.span_tree import SpanTree

HITS = [
    SpanHit("a", text="Annual leave is\nfive days."),
    SpanHit("b", text='He said "no" to the third draft.'),
    SpanHit("c"),
]


def span(name, parent=None, role="chain", at=0, **fields):
    """A span."""
    return Reading("t", name, parent, start_ns=at, role=role, **fields)


def outcome(*spans, of="r", hits=HITS):
    """What became of a retrieval."""
    tree = SpanTree(spans)
    return outcome_of(tree, tree.spans[of], hits)


ROOT = span("root", answer="Root says.")
RETRIEVER = span("r", "root", "retriever", at=2)


def model(name, parent="root", at=3, **fields):
    """A model's span."""
    return span(name, parent, "llm", at, **fields)


def test_the_model_that_began_after_the_retrieval_answers():
    """One that began before wrote the query."""
    before = model("m0", at=1, answer="rewritten")
    found = outcome(ROOT, RETRIEVER, before, model("m1", answer="Five."))
    assert (found.answer, found.model.span_id, found.context_ids) == ("Five.", "m1", None)


def test_the_model_that_was_shown_most_of_the_hits_answers():
    """Of equal ones the last; the hits found in its prompt are the context, best first."""
    prompt = 'Use: He said \\"no\\" to the third draft.\\nAnnual leave is   five days. Q: how long?'
    grader = model("m1", at=3, answer="yes", prompt="Annual leave is five days.")
    answering = model("m2", at=4, answer="Five.", prompt=prompt)
    other = model("m3", at=5, answer="Nice title", prompt="Make a title")
    found = outcome(ROOT, RETRIEVER, grader, answering, other)
    assert (found.answer, found.context_ids) == ("Five.", ["a", "b"])
    again = model("m4", at=6, answer="Six.", prompt=prompt)
    assert outcome(ROOT, RETRIEVER, grader, answering, other, again).answer == "Six."


def test_half_of_a_hit_in_the_prompt_is_enough():
    """Prompts are cut at the end of what a model can read."""
    hit = [SpanHit("a", text="0123456789")]
    shown = [
        outcome(ROOT, RETRIEVER, model("m", answer="x", prompt=prompt), hits=hit).context_ids
        for prompt in ("… 01234", "… 0123", "0123456789")
    ]
    assert shown == [["a"], None, ["a"]]


def test_models_inside_the_retriever_answer_nothing():
    """They write queries."""
    inner = model("m", "r", answer="a passage that might be found")
    assert outcome(ROOT, RETRIEVER, inner).answer == "Root says."


def test_the_nearest_step_with_a_model_is_looked_into():
    """Two turns of a conversation in one trace; models that say nothing are passed over."""
    turn = span("turn", "root")
    inner = span("r", "turn", "retriever", at=2)
    far = model("far", at=9, answer="far")
    assert outcome(ROOT, turn, inner, far, model("near", "turn", answer="near")).answer == "near"
    assert outcome(ROOT, turn, inner, far, model("mute", "turn")).answer == "far"


def test_orphans_look_into_the_whole_trace():
    """Their parent never came."""
    orphan = span("r", "lost", "retriever", at=2)
    assert outcome(ROOT, orphan, model("m", answer="Five.")).answer == "Five."


def test_a_step_above_that_puts_out_the_same_words_has_the_cleaner_answer():
    """Without the wrapping of the model; a step that puts out other or few words has not."""
    wrapped = model("m", answer="<answer>\nFive days, or six where you are new.\n</answer>")
    clean = span("root", answer="Five days, or six where you are new.")
    assert outcome(clean, RETRIEVER, wrapped).answer == "Five days, or six where you are new."
    assert outcome(span("root", answer="days"), RETRIEVER, wrapped).answer == wrapped.answer
    assert outcome(ROOT, RETRIEVER, wrapped).answer == wrapped.answer


def test_without_a_model_a_step_above_has_the_answer():
    """Or the retriever itself, where it answers too; or nobody."""
    assert outcome(ROOT, RETRIEVER).answer == "Root says."
    both = span("r", "root", "retriever", answer="Own words.")
    assert outcome(ROOT, both).answer == "Own words."
    assert outcome(RETRIEVER) == (None, None, None)
    mute = model("m", prompt="Annual leave is five days.")
    found = outcome(ROOT, RETRIEVER, mute)
    assert (found.answer, found.context_ids) == ("Root says.", ["a"])


def test_around_looks_below_first_then_wider():
    """Each step up, and then everywhere."""
    tree = SpanTree([ROOT, RETRIEVER, span("e", "r", "embedding"), span("f", "root", "embedding")])
    found = [[one.span_id for one in spans] for spans in around(tree, RETRIEVER, "embedding")]
    assert found == [["e"], ["e", "f"], ["e", "f"]]


def test_plain_text_of_nothing():
    """Is nothing."""
    assert plain(None) == ""
