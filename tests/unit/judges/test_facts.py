"""Facts and entities of answers."""

from __future__ import annotations

from ragnostic.judges.facts import Claim, claims, new_facts, rarest

COUNTS = {" acme ": 9, " vpn ": 2, " nowhere ": 0, "北京": 1}


def facts_of(numbers: tuple[str, ...], names: tuple[str, ...], query: str):
    """Facts of an answer with these parts."""
    return new_facts(numbers, names, query, COUNTS.__getitem__)


def test_what_the_query_names_is_no_fact():
    """A name or number of the query is what was asked about, not an answer."""
    facts = facts_of((" 2021 年", " 5 %"), (" acme ", "北京"), " acme 2021 年增长多少")
    assert facts.numbers == (" 5 %",)
    assert facts.names == ("北京",)
    assert facts.topic == (" acme ",)
    assert not facts.needs_words


def test_numbers_go_with_the_rarest_topic_and_names_with_all():
    """Many chunks on a topic hold its names, so a name needs more company than a number."""
    facts = facts_of((" 5 %",), (" acme ", " vpn ", "北京"), " acme vpn ")
    found, entity = claims(facts, ())
    assert found == [Claim(" 5 %", (" vpn ",)), Claim("北京", (" vpn ", " acme "))]
    assert entity == (" vpn ",)


def test_numbers_go_with_a_name_of_the_answer_where_the_query_names_none():
    """Without a common name the rarest of the answer's stands for it; a name needs the words."""
    facts = facts_of((" 5 %",), (" acme ", "北京"), "增长多少")
    assert facts.needs_words
    found, _ = claims(facts, ("增长",))
    assert found[0] == Claim(" 5 %", ("北京",))
    assert found[1:] == [Claim(" acme ", ("增长",)), Claim("北京", ("增长",))]


def test_the_two_rarest_words_stand_for_a_missing_entity():
    """No name at all: the query's two rarest content words; no words: no claim."""
    facts = facts_of((" 5 %",), (" nowhere ",), "?")
    assert claims(facts, ("a", "b", "c"))[0][0] == Claim(" 5 %", ("a", "b"))
    assert claims(facts, ()) == ([], ())


def test_rarest_leaves_out_what_no_chunk_holds():
    """Terms come by how few chunks hold them."""
    assert rarest(list(COUNTS), COUNTS.__getitem__) == ("北京", " vpn ", " acme ")
