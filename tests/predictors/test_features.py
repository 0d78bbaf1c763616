"""Features of a collection small enough to count on one's fingers, and everything that may be missing from one."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import earmark
from earmark.beliefs.beliefs import item_gains
from earmark.data.collection import Collection
from earmark.data.metadata import Metadata
from earmark.errors import ParameterError
from earmark.predictors.feature_glossary import glossary_table
from earmark.predictors.features import FeatureBuilder, feature_table
from earmark.predictors.judgment_features import ItemGains
from earmark.predictors.ordinal_models import published_model

NAN = float("nan")
TEAMS = {"A": "one", "B": "one", "C": "two"}
METADATA = Metadata(
    pl.DataFrame(
        {
            "document": ["d1", "d2", "d3", "d4", "q1", "d9"],
            "artist": ["a", "a", "b", "VARIOUS artists", "z", "a"],
            "genre": ["rock", "pop", "rock", "rock", "rock", "jazz"],
        }
    )
)
JUDGMENTS = earmark.judgments_from_dict({"q1": {"d1": 2, "d2": 1, "d3": -1, "d4": 0, "d7": 2}, "q2": {"d1": 1}})

# The items are (q1, d1), (q1, d2), (q1, d3), (q1, d4), (q2, d1), (q2, d5). The metadata know neither q2 nor d5.
OUTPUT = {
    "pSYS": [1 / 3, 1, 1 / 3, 1 / 3, 1 / 3, 1 / 3],
    "fSYS": [1 / 3, 1, 1 / 3, 1 / 3, 1 / 3, 1 / 3],
    "pTEAM": [1 / 2, 1, 1 / 2, 1 / 2, 1 / 2, 1 / 2],
    "OV": [6 / 8] * 6,
    "aRANK": [1, 5 / 3, 2, 1, 1, 1],
    "nRES": [6, 6, 6, 6, 2, 2],
    "sART": [0, 0, 0, NAN, NAN, NAN],
    "pART": [4 / 6, 4 / 6, 1 / 6, NAN, 1 / 2, NAN],
    "fART": [2 / 4, 2 / 4, 1 / 4, NAN, 1 / 2, NAN],
    "fART_systems": [1, 1, 1 / 3, NAN, 1 / 3, NAN],
    # Without A, d2 has d2 of {d2, d3, d4}; without B, d1 and d2 of {d1, d2, d4}; without C, of {d1, d2, d3}.
    "fART_others": [1 / 3, (1 / 3 + 2 / 3 + 2 / 3) / 3, 0, NAN, 0, NAN],
    "rART": [3 / 6, 3 / 6, 1 / 6, NAN, 3 / 6, NAN],
    "sGEN": [1, 0, 1, 1, NAN, NAN],
    "pGEN": [3 / 6, 3 / 6, 3 / 6, 3 / 6, 1 / 2, NAN],
    "fGEN": [3 / 4, 1 / 4, 3 / 4, 3 / 4, 1 / 2, NAN],
    "fGEN_systems": [1, 1, 1, 1, 1 / 3, NAN],
    "fGEN_others": [2 / 3, 1 / 3, 2 / 3, 2 / 3, 0, NAN],
    "rGEN": [4 / 6, 1 / 6, 4 / 6, 4 / 6, 4 / 6, NAN],
    "sGEN:pGEN": [3 / 6, 0, 3 / 6, 3 / 6, NAN, NAN],
}
WITH_OWN = {
    "aSYS": [4 / 3, (4 / 3 + 1 + 1 / 2) / 3, 1, 1 / 2, 4 / 3, 1],
    "nSYS": [3, 6, 1, 2, 3, 1],
    "aDOC": [1 / 2, 1, 1, 3 / 2, NAN, 1],
    "nDOC": [2, 2, 3, 2, 0, 1],
    "aART": [3 / 2, 3 / 2, NAN, NAN, 1, NAN],
    "nART": [2, 2, 0, NAN, 1, NAN],
    "aGEN": [1, 1, 1, 1, 1, NAN],
    "nGEN": [2, 1, 2, 2, 1, NAN],
}
WITHOUT_OWN = {
    # B has judged nothing but (q1, d2) itself, so that item's average is of A and C alone.
    "aSYS": [1, (3 / 2 + 0) / 2, 1, 1, 3 / 2, 1],
    "nSYS": [2, 3, 1, 1, 2, 1],
    "aDOC": WITH_OWN["aDOC"],
    "nDOC": WITH_OWN["nDOC"],
    "aART": [1, 2, NAN, NAN, NAN, NAN],
    "nART": [1, 1, 0, NAN, 0, NAN],
    "aGEN": [0, NAN, 1, 2, NAN, NAN],
    "nGEN": [1, 0, 2, 1, 0, NAN],
}


def make_collection(metadata: Metadata | None = METADATA) -> Collection:
    runs = earmark.runs_from_dict(
        {
            "A": {"q1": {"d1": 2, "d2": 1}, "q2": {"d1": 1}},
            "B": {"q1": {"d2": 2, "d3": 1}, "q2": {"d5": 1}},
            "C": {"q1": {"d4": 2, "d2": 1}},
        }
    )
    return Collection.from_runs(runs, metadata=metadata)


def known_gains(collection: Collection) -> ItemGains:
    gain = item_gains(collection, JUDGMENTS)
    return ItemGains(gain, gain >= 0)


@pytest.fixture
def builder() -> FeatureBuilder:
    return FeatureBuilder(make_collection(), teams=TEAMS)


def test_output_features_counted_by_hand(builder: FeatureBuilder) -> None:
    output = builder.output()
    assert output.names == tuple(OUTPUT) == builder.output_names
    for name, expected in OUTPUT.items():
        np.testing.assert_allclose(output[name], expected, rtol=1e-14, err_msg=name)
    assert builder.dropped == ()


@pytest.mark.parametrize(("exclude_own", "expected"), [(False, WITH_OWN), (True, WITHOUT_OWN)])
def test_judgment_features_counted_by_hand(builder: FeatureBuilder, exclude_own: bool, expected: dict) -> None:
    known = known_gains(builder.collection)
    judged = builder.judged(known.gain, known.judged, exclude_own=exclude_own)
    assert judged.names == tuple(expected) == builder.judgment_names
    for name, values in expected.items():
        np.testing.assert_allclose(judged[name], values, rtol=1e-14, err_msg=name)


def test_the_own_judgment_is_left_out_unless_asked_for(builder: FeatureBuilder) -> None:
    known = known_gains(builder.collection)
    np.testing.assert_array_equal(
        builder.judged(known.gain, known.judged).values,
        builder.judged(known.gain, known.judged, exclude_own=True).values,
    )


def test_gains_of_unjudged_items_do_not_matter(builder: FeatureBuilder) -> None:
    known = known_gains(builder.collection)
    odd = np.where(known.judged, known.gain, NAN)
    np.testing.assert_array_equal(
        builder.judged(odd, known.judged).values, builder.judged(known.gain, known.judged).values
    )


def test_no_judgments_leave_averages_unknown_and_counts_zero(builder: FeatureBuilder) -> None:
    features = builder.judged(np.zeros(6), np.zeros(6, dtype=bool))
    for name in ("aSYS", "aDOC", "aART", "aGEN"):
        assert np.isnan(features[name]).all()
    assert features["nSYS"].tolist() == features["nDOC"].tolist() == [0] * 6


def test_complete_says_which_items_a_model_may_be_applied_to(builder: FeatureBuilder) -> None:
    known = known_gains(builder.collection)
    of_output = builder.features(published_model("mtc-output-broad").features)
    assert of_output.complete.tolist() == [True, True, True, False, False, False]
    of_judge = builder.features(published_model("mtc-judge-broad").features, gain=known.gain, judged=known.judged)
    assert of_judge.complete.tolist() == [True, True, False, False, False, False]
    assert builder.features(["pSYS", "OV"]).complete.all()


def test_features_come_in_the_order_asked_for_and_multiply(builder: FeatureBuilder) -> None:
    known = known_gains(builder.collection)
    features = builder.features(["aDOC:pSYS", "OV", "aDOC"], gain=known.gain, judged=known.judged)
    assert features.names == ("aDOC:pSYS", "OV", "aDOC")
    np.testing.assert_array_equal(features["aDOC:pSYS"], features["aDOC"] * builder.output()["pSYS"])
    assert features.values.shape == (6, 3)


def test_some_judgment_features_alone(builder: FeatureBuilder) -> None:
    known = known_gains(builder.collection)
    some = builder.judged(known.gain, known.judged, names=["nART", "aSYS"])
    assert some.names == ("nART", "aSYS")
    np.testing.assert_array_equal(some["aSYS"], builder.judged(known.gain, known.judged)["aSYS"])


def test_output_features_are_computed_once_and_cannot_be_overwritten(builder: FeatureBuilder) -> None:
    assert builder.output() is builder.output()
    with pytest.raises(ValueError, match="read-only"):
        builder.output().values[0, 0] = 1


def test_without_teams_every_system_is_one() -> None:
    output = FeatureBuilder(make_collection()).output()
    np.testing.assert_array_equal(output["pTEAM"], output["pSYS"])


def test_without_metadata_what_needs_it_drops_out() -> None:
    builder = FeatureBuilder(make_collection(None), attributes=("decade",))
    assert builder.output_names == ("pSYS", "fSYS", "pTEAM", "OV", "aRANK", "nRES")
    assert builder.judgment_names == ("aSYS", "nSYS", "aDOC", "nDOC")
    expected = {name for name in (*OUTPUT, *WITH_OWN) if "ART" in name or "GEN" in name}
    decade = {"sDECADE", "pDECADE", "fDECADE", "fDECADE_systems", "fDECADE_others", "rDECADE", "aDECADE", "nDECADE"}
    assert set(builder.dropped) == expected | decade
    assert builder.output().complete.all()
    with pytest.raises(ParameterError, match=r"^the feature 'pART' needs to know the artist: there is no metadata$"):
        builder.features(["pART"])
    with pytest.raises(ParameterError, match=r"^the feature 'aDECADE' needs to know the decade: there is no metadata$"):
        builder.judged(np.zeros(6), np.zeros(6, dtype=bool), names=["aDECADE"])


def test_metadata_without_a_column_drop_what_needs_it() -> None:
    builder = FeatureBuilder(make_collection(Metadata(METADATA.frame.drop("artist"))))
    assert {name[1:4] for name in builder.dropped} == {"ART"}
    with pytest.raises(ParameterError, match=r"needs to know the artist: the metadata has the columns genre$"):
        builder.features(["aART"])


def test_queries_without_metadata_drop_only_what_compares_with_them() -> None:
    builder = FeatureBuilder(make_collection(Metadata(METADATA.frame.filter(pl.col("document") != "q1"))))
    assert builder.dropped == ("sART", "sGEN", "sGEN:pGEN")
    with pytest.raises(ParameterError, match=r"'sGEN' needs to know the genre: it is known of no query$"):
        builder.features(["sGEN:pGEN"])


def test_metadata_of_other_documents_are_as_good_as_none() -> None:
    frame = METADATA.frame.filter(pl.col("document") == "d9")
    builder = FeatureBuilder(make_collection(Metadata(frame)))
    assert set(builder.dropped) == set(FeatureBuilder(make_collection(None)).dropped)
    with pytest.raises(ParameterError, match=r"'fGEN' needs to know the genre: it is known of no item$"):
        builder.features(["fGEN"])


def test_other_columns_play_artist_and_genre_and_further_ones_come_along() -> None:
    frame = METADATA.frame.rename({"artist": "performer", "genre": "Mood"})
    frame = frame.with_columns(pl.Series("decade", ["80s", None, "80s", "90s", "80s", None]))
    builder = FeatureBuilder(
        make_collection(Metadata(frame)), teams=TEAMS, artist="performer", genre="Mood", attributes=("decade",)
    )
    known = known_gains(builder.collection)
    for name, expected in (OUTPUT | WITHOUT_OWN).items():
        values = builder.features([name], gain=known.gain, judged=known.judged)[name]
        np.testing.assert_allclose(values, expected, rtol=1e-14, err_msg=name)
    np.testing.assert_allclose(builder.output()["sDECADE"], [1, NAN, 1, 0, NAN, NAN])
    np.testing.assert_allclose(builder.output()["pDECADE"], [2 / 6, NAN, 2 / 6, 1 / 6, 1 / 2, NAN])
    np.testing.assert_allclose(builder.output()["rDECADE"], [3 / 6, NAN, 3 / 6, 1 / 6, 3 / 6, NAN])
    assert "artist" not in glossary_table(builder.descriptions)["summary"].str.join(" ").item()


def test_various_artists_can_be_called_otherwise() -> None:
    builder = FeatureBuilder(make_collection(), no_artist=("A",))
    np.testing.assert_allclose(builder.output()["pART"], [NAN, NAN, 1 / 6, 1 / 6, NAN, NAN])
    assert not np.isnan(builder.output()["pGEN"][:5]).any()


def test_lists_of_one_system_have_no_others() -> None:
    runs = earmark.runs_from_dict({"A": {"q1": {"d1": 2, "d2": 1, "d5": 0}}})
    output = FeatureBuilder(Collection.from_runs(runs, metadata=METADATA)).output()
    np.testing.assert_array_equal(output["fART_others"], [0, 0, NAN])
    assert output["OV"].tolist() == output["pSYS"].tolist() == [1, 1, 1]


def test_table_has_a_row_per_item_and_nulls_where_nothing_is_known(builder: FeatureBuilder) -> None:
    table = feature_table(builder)
    assert table.columns == ["query", "document", *builder.output_names]
    assert table.select("query", "document").rows() == [
        ("q1", "d1"), ("q1", "d2"), ("q1", "d3"), ("q1", "d4"), ("q2", "d1"), ("q2", "d5"),
    ]  # fmt: skip
    assert table["sGEN"].to_list() == [1, 0, 1, 1, None, None]
    assert feature_table(builder, judgments=JUDGMENTS).columns == [
        "query", "document", *builder.output_names, *builder.judgment_names,
    ]  # fmt: skip
    some = feature_table(builder, names=["aART", "pSYS"], judgments=JUDGMENTS, exclude_own=False)
    assert some.columns == ["query", "document", "aART", "pSYS"]
    assert some["aART"].to_list() == [1.5, 1.5, None, None, 1, None]


def test_table_needs_judgments_for_features_that_rest_on_them(builder: FeatureBuilder) -> None:
    with pytest.raises(ParameterError, match=r"^the feature 'aART' rests on judgments: give 'gain' and 'judged'$"):
        feature_table(builder, names=["pSYS", "aART"])


def test_table_takes_several_assessors_together(builder: FeatureBuilder) -> None:
    rows = {"query": ["q1"] * 3, "document": ["d1"] * 3, "gain": [0, 2, 2], "assessor": ["x", "y", "z"]}
    judgments = earmark.judgments_from_frame(pl.DataFrame(rows))
    assert feature_table(builder, judgments=judgments)["aDOC"][1] == pytest.approx(4 / 3)
    assert feature_table(builder, judgments=judgments, aggregation="median")["aDOC"][1] == 2


def test_every_feature_is_described_once(builder: FeatureBuilder) -> None:
    table = glossary_table(builder.descriptions)
    assert tuple(table["name"]) == builder.output_names + builder.judgment_names
    assert tuple(table.filter(pl.col("kind") == "judgment")["name"]) == builder.judgment_names
    assert table.null_count().sum_horizontal().item() == 0
    assert all(entry.summary and entry.formula and "20" in entry.source for entry in builder.descriptions)
    by_name = {entry.name: entry for entry in builder.descriptions}
    assert by_name["sART"].source.startswith("Buckers")
    assert by_name["sGEN"].source.startswith("Urbano")
    assert by_name["fART_others"].formula == "mean over s in S(q,d) of fART without what s alone retrieved"
    assert by_name["aGEN"].summary == "average gain of the documents for q with the genre of d"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"teams": {"A": "one", "B": "one"}}, "^no team is given for system 'C'$"),
        ({"artist": "artits"}, "^the metadata has no column 'artits': did you mean 'artist'"),
        ({"attributes": ("decade",)}, "^the metadata has no column 'decade'"),
        ({"attributes": ("sys",)}, "^features of 'sys' would be called pSYS, which is taken: rename the column$"),
        ({"attributes": ("genre", "Genre")}, "^features of 'Genre' would be called pGENRE, which is taken"),
        ({"attributes": ("a:b",)}, "^an attribute's name has one or more letters and no colon, got 'a:b'$"),
    ],
)
def test_builder_refuses(options: dict, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        FeatureBuilder(make_collection(), **options)


def test_unknown_features_are_refused_with_a_hint(builder: FeatureBuilder) -> None:
    with pytest.raises(ParameterError, match=r"^there is no feature 'pGENRE': did you mean 'pGEN'\?$"):
        builder.features(["pSYS:pGENRE"])
    with pytest.raises(ParameterError, match=r"^there is no feature '\?': there are pSYS, fSYS, pTEAM, "):
        builder.features(["?"])
    with pytest.raises(ParameterError, match=r"^there is no feature 'pSYS': did you mean '[an]SYS'\?$"):
        builder.judged(np.zeros(6), np.zeros(6, dtype=bool), names=["pSYS"])
    with pytest.raises(ParameterError, match=r"^there is no feature 'aSYS' here: there are pSYS, fSYS, "):
        builder.output()["aSYS"]


def test_gains_are_checked(builder: FeatureBuilder) -> None:
    none = np.zeros(6, dtype=bool)
    with pytest.raises(ParameterError, match=r"^'gain' has one value per item: expected shape \(6,\), got \(5,\)$"):
        builder.judged(np.zeros(5), none)
    with pytest.raises(ParameterError, match=r"^'judged' has one value per item: expected shape \(6,\), got \(6, 1\)$"):
        builder.judged(np.zeros(6), none[:, None])
    with pytest.raises(ParameterError, match=r"^'judged' is an array of truth values, got one of int64$"):
        builder.judged(np.zeros(6), np.arange(6))
    with pytest.raises(ParameterError, match=r"^the gain of a judged item is a finite number, got nan for item 2$"):
        builder.judged([0, 0, NAN, 0, 0, 0], ~none)
