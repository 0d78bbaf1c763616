import json
import pickle
import tomllib
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from earmark.errors import InputError, ParameterError
from earmark.store.settings import (
    FROZEN,
    Difference,
    Estimates,
    InputFile,
    Inputs,
    Judging,
    Media,
    Pages,
    People,
    Recruiting,
    SettingError,
    Settings,
    Store,
    Traps,
    refuse_frozen,
    setting_names,
)
from earmark.store.settings_text import described, fresh
from earmark.store.toml_lines import find_line, key_lines

HASH = "0123456789abcdef" * 4
SMALL = """\
format = 1
id = "0123456789abcdef0123456789abcdef"
name = "A study"
kind = "grade"
created = 2026-01-31T12:00:00Z

[inputs]
runs = [
  { file = "inputs/a.run", sha256 = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef" },
  "inputs/b.run",  # written by hand
]

[judging]
scale = "broad"

[estimates]
measure = "AG@5"
"""


def small(**changes):
    return Settings.parse(SMALL).changed(**changes)


def line_of(content, start):
    return next(number for number, line in enumerate(content.split("\n"), 1) if line.startswith(start))


# ---- any settings ----------------------------------------------------------------------------------------------------

words = st.text(st.characters(codec="utf-8", exclude_categories=["Cs"]), min_size=1, max_size=12).filter(str.strip)
hashes = st.sampled_from(["", HASH, HASH[::-1]])
files = st.builds(InputFile, words.map(lambda name: name.replace("\\", "/")), hashes)
shares = st.floats(0, 1) | st.sampled_from([1 / 6, 1 / 3, 2 / 7, 0.1])


def maybe(strategy):
    return st.none() | strategy


@st.composite
def all_settings(draw):
    metadata = draw(maybe(files))
    columns = {"artist": maybe(words), "genre": maybe(words), "attributes": st.lists(words, max_size=2, unique=True)}
    known = {} if metadata is None else {name: draw(strategy) for name, strategy in columns.items()}
    inputs = Inputs(
        runs=draw(st.lists(files, min_size=1, max_size=3, unique=True)),
        metadata=metadata,
        traps=draw(files),
        predictions=draw(files),
        media_map=draw(maybe(files)),
        order=draw(st.sampled_from(["score", "rank"])),
        missing=draw(st.sampled_from(["zero", "drop"])),
        **known,
    )
    judging = Judging(
        scale=draw(st.sampled_from(["binary", "broad", "fine", "0..3", "0.0..1.0", "0,1,3,7"])),
        judgments_per_item=draw(st.integers(1, 9)),
        disagreement=draw(shares),
        group_by_query=draw(st.booleans()),
        answers_per_assessor=draw(maybe(st.integers(1, 10**6))),
        lease_minutes=draw(st.floats(0, 1e6, exclude_min=True)),
    )
    traps = Traps(
        rate=draw(shares.filter(lambda share: share <= 0.5)),
        sources=draw(st.lists(st.sampled_from(["agreed", "self", "list"]), unique=True)),
        tolerance=draw(shares),
    )
    estimates = Estimates(
        measure=draw(st.sampled_from(["AG@5", "nDCG@10", "AG@1"])),
        predictor=draw(st.sampled_from(["hierarchical", "uniform", "external"])),
        predictor_version=draw(maybe(words)),
        policy=draw(st.sampled_from([None, "variance:top", "proportional"])),
        stop=draw(st.sampled_from(["mean:0.95", "min:0.9", "budget:500", "none"])),
        audit=draw(shares),
        level=draw(st.floats(0.01, 0.99)),
        seed=draw(st.integers(0, 2**31)),
        anytime=draw(st.booleans()),
    )
    return Settings(
        name=draw(words),
        kind="grade",
        created=draw(st.datetimes(timezones=st.just(UTC))),
        inputs=inputs,
        judging=judging,
        traps=traps,
        estimates=estimates,
        people=People(retention_days=draw(maybe(st.integers(1, 9999)))),
        media=Media(folder=draw(maybe(words)), start=draw(st.floats(0, 1e4)), loudness=draw(st.floats(-70, 0))),
        store=Store(url=draw(st.sampled_from([None, "postgresql://me@server/study", "sqlite:///a.db"]))),
    )


@given(all_settings())
def test_what_is_written_is_read_again(settings):
    assert Settings.parse(fresh(settings)) == settings
    assert Settings.from_json(settings.as_json()) == settings
    assert "\n" not in settings.as_json()
    assert pickle.loads(pickle.dumps(settings)) == settings


@hypothesis_settings(max_examples=40)
@given(all_settings(), all_settings())
def test_changing_a_file_from_any_settings_to_any_others(tmp_path_factory, before, after):
    path = tmp_path_factory.mktemp("study") / "campaign.toml"
    before.write(path)
    after.write(path)
    assert Settings.read(path) == after
    # Every comment of the first writing is still there, but those about settings that are left out.
    comments = [line for line in fresh(before).split("\n") if line.startswith("# ") and " = " not in line]
    assert [line for line in path.read_text("utf-8").split("\n") if line in comments] == comments


@given(all_settings(), all_settings())
def test_differences_lead_from_one_to_the_other(before, after):
    found = Settings.differences(before, after)
    assert before.changed(**{one.setting: one.after for one in found}) == after
    assert after.changed(**{one.setting: one.before for one in found}) == before
    assert Settings.differences(after, after) == []
    json.dumps([one.after for one in found])


# ---- reading ---------------------------------------------------------------------------------------------------------


def test_defaults():
    settings = Settings.parse(SMALL)
    assert settings.inputs.runs == (InputFile("inputs/a.run", HASH), InputFile("inputs/b.run", ""))
    assert settings.created == datetime(2026, 1, 31, 12, tzinfo=UTC)
    assert settings.judging == Judging(scale="broad")
    assert (settings.traps, settings.people, settings.media, settings.store) == (Traps(), People(), Media(), Store())
    assert settings.traps.rate == 1 / 6


def test_defaults_are_those_of_the_command_line():
    import inspect

    from earmark.campaign.problem import Problem
    from earmark.campaign.stopping import stop_rule
    from earmark.cli import campaign_options, options

    estimates, build = Estimates(), inspect.signature(Problem.build).parameters
    for name in ("predictor", "policy"):
        assert getattr(estimates, name) == build[name].default
    stopping, estimating = campaign_options.Stopping(), campaign_options.Estimating()
    assert {"stop": estimates.stop, "margin": estimates.margin} == stopping.settings()
    assert stopping.rule == stop_rule(build["stop"].default, goal=build["goal"].default, margin=build["margin"].default)
    assert (estimates.level, estimates.samples) == (estimating.level, estimating.samples)
    concluding = campaign_options.Concluding()
    for name in ("inference", "target", "anytime", "whole_queries"):
        assert getattr(estimates, name) == getattr(concluding, name)
    assert estimates.aggregation == options.Judging().aggregate
    # earmark init writes the share of sampled judgments down; a campaign that says nothing has none.
    assert estimates.audit == 0.0


def test_a_new_campaign_has_an_id_and_a_time_of_its_own():
    both = [
        Settings(name="x", kind="prefer", inputs=Inputs(runs=("a.run",)), estimates=Estimates(stop="none"))
        for _ in range(2)
    ]
    assert both[0].id != both[1].id
    assert both[0].created.tzinfo is UTC
    assert abs(both[0].created - datetime.now(UTC)) < timedelta(seconds=5)


def test_times_are_kept_in_utc():
    content = SMALL.replace("2026-01-31T12:00:00Z", "2026-01-31T14:00:00+02:00")
    assert Settings.parse(content).created == Settings.parse(SMALL).created
    assert Settings.parse(content).created.tzinfo is UTC
    moved = small(created=datetime(2026, 1, 31, 14, tzinfo=timezone(timedelta(hours=2))))
    assert moved == Settings.parse(SMALL)


@pytest.mark.parametrize(("written", "rate"), [('"1/6"', 1 / 6), ("0.2", 0.2), ("0", 0.0), ('" 1 / 4 "', 0.25)])
def test_a_share_may_be_a_fraction(written, rate):
    assert Settings.parse(f"{SMALL}[traps]\nrate = {written}\n").traps.rate == rate


def test_a_file_with_a_byte_order_mark_and_other_line_ends(tmp_path):
    path = tmp_path / "campaign.toml"
    path.write_bytes(b"\xef\xbb\xbf" + SMALL.replace("\n", "\r\n").encode())
    assert Settings.read(path) == Settings.parse(SMALL)
    path.write_bytes(SMALL.replace("\n", "\r\n").replace('"broad"', "3").encode())
    with pytest.raises(InputError) as error:
        Settings.read(path)
    assert error.value.line == line_of(SMALL, "scale")


def test_dotted_keys_and_inline_tables_mean_the_same():
    content = SMALL.partition("[inputs]")[0] + 'inputs.runs = ["a.run"]\njudging = { scale = "broad" }\n'
    settings = Settings.parse(content + 'estimates."measure" = "AG@5"\n')
    assert settings.judging.scale == "broad"


# ---- errors: an edit of the small file, where it is wrong, and words of the message ----------------------------------

WRONG = [
    # the settings above all sections
    ("format = 1", "format = 2", "format", "expected 1 as format, got 2 .*later version"),
    ("format = 1", 'format = "1"', "format", 'got "1"'),
    ("format = 1\n", "", None, "an entry as format, got none"),
    ('name = "A study"\n', "", None, "an entry as name, got none"),
    ('name = "A study"', "name = 3", "name", 'a text in quotes as name, got 3 .write "3"'),
    ('name = "A study"', 'name = " "', "name", "a text that is not empty"),
    ("id = ", 'ident = "x"\nid = ', "ident", "a setting of the part above all sections.*did you mean 'id'"),
    ('id = "0123', 'id = "xyz', "id", "32 hexadecimal digits"),
    ('kind = "grade"', 'kind = "grades"', "kind", 'did you mean "grade"'),
    ('kind = "grade"', "kind = 1", "kind", '"grade" or "prefer" or "order" or "lists" as kind, got 1'),
    ("created = 2026-01-31T12:00:00Z", "created = 2026-01-31T12:00:00", "created", "add a Z"),
    ("created = 2026-01-31T12:00:00Z", "created = 2026-01-31", "created", "a time with its zone"),
    ("created = 2026-01-31T12:00:00Z", 'created = "today"', "created", "a time with its zone"),
    # sections
    ("[judging]", "[judgin]", "[judgin]", "a setting of the part above.*did you mean 'judging'"),
    ("[judging]\n", '[judging]\nstop = "none"\n', "stop", r"'stop' belongs to \[estimates\]"),
    ("[judging]\n", "[judging]\nkind = 1\n", "kind = 1", "'kind' belongs to the part above all sections"),
    ("[judging]\n", "[judging]\nlease = 3\n", "lease", "did you mean 'lease_minutes'"),
    ("[judging]\n", "[judging]\nzzzzzz = 3\n", "zzzzzz", "there are scale, also, judgments_per_item"),
    ("[judging]\n", '[judging]\n"a.b" = 3\n', '"a.b"', "'a.b'"),
    ("[estimates]\n", "[people]\nage = 3\n[estimates]\n", "age", r"a setting of \[people\]"),
    ('[estimates]\nmeasure = "AG@5"\n', "[estimates]\n", "[estimates]", "such as measure = .*kind grade needs it"),
    ('scale = "broad"\n', "", "[judging]", "an entry such as scale"),
    ('[judging]\nscale = "broad"\n', "", "measure", "an entry such as scale"),
    # files
    ("runs = [", "runs = []\nteams = [", "runs", "a list of 1 or more files as inputs.runs, got 0"),
    ('  "inputs/b.run",', "  3,", "  3", 'a file as { file = .* as inputs.runs, got 3 .*"inputs/a.run"'),
    ('  "inputs/b.run",', '  { sha256 = "" },', "  { sha256 = ", "no entry 'file'"),
    ('  "inputs/b.run",', '  { file = "b", hash = "" },', '  { file = "b"', "an entry 'hash'"),
    ('  "inputs/b.run",', '  { file = "b", sha256 = "12" },', '  { file = "b"', "64 hexadecimal digits.*leave sha256"),
    ('  "inputs/b.run",', f'  {{ file = "inputs/a.run", sha256 = "{HASH}" }},', "runs", 'got "inputs/a.run" twice'),
    ("[judging]", 'encoding = "utf-88"\n[judging]', "encoding", 'try "utf-8"'),
    ("[judging]", 'order = "scores"\n[judging]', "order", 'did you mean "score"'),
    ("[judging]", 'attributes = "mood"\n[judging]', "attributes", r'write \["mood"\]'),
    ("[judging]", 'attributes = ["mood"]\n[judging]', "attributes", "a file as inputs.metadata too"),
    ("[judging]", 'content_ids = "a"\n[judging]', "[inputs]", "content_ids names its rows as inputs.content, got none"),
    # values
    ('scale = "broad"', "scale = 3", "scale", r'got 3 \(write "0..3"\)'),
    ('scale = "broad"', "scale = 1", "scale", r'write "binary"'),
    ('scale = "broad"', 'scale = "brood"', "scale", "unknown scale 'brood': use binary, broad"),
    ('scale = "broad"', "scale = true", "scale", "got true$"),
    ("[judging]", "[judging]\njudgments_per_item = 0", "judgments_per_item", "a whole number, 1 or more"),
    ("[judging]", "[judging]\njudgments_per_item = 1.5", "judgments_per_item", "got 1.5"),
    ("[judging]", '[judging]\njudgments_per_item = "3"', "judgments_per_item", "without quotes"),
    ("[judging]", "[judging]\njudgments_per_item = true", "judgments_per_item", "got true"),
    ("[judging]", '[judging]\ngroup_by_query = "yes"', "group_by_query", "true or false .*without quotes"),
    ("[judging]", "[judging]\ngroup_by_query = 1", "group_by_query", "true or false"),
    ("[judging]", "[judging]\nlease_minutes = 0", "lease_minutes", "a number, above 0 as"),
    ("[judging]", "[judging]\nlease_minutes = inf", "lease_minutes", "got inf"),
    ("[judging]", "[judging]\nlease_minutes = nan", "lease_minutes", "got nan"),
    ("[judging]", '[judging]\nlease_minutes = "1/2"', "lease_minutes", "without quotes"),
    ("[judging]", "[traps]\nrate = 1\n[judging]", "rate", "0 or more and at most 0.5"),
    ("[judging]", "[traps]\nrate = 17\n[judging]", "rate", "a percentage. 0.17 is 17%"),
    ("[judging]", '[traps]\nrate = "1/0"\n[judging]', "rate", 'a fraction as "1/6"'),
    ("[judging]", '[traps]\nrate = "6/1"\n[judging]', "rate", "at most 0.5"),
    ("[judging]", '[traps]\nsources = "self"\n[judging]', "sources", "a list of sources"),
    ("[judging]", '[traps]\nsources = [\n"self",\n"lists"]\n[judging]', '"lists"', 'did you mean "list"'),
    ("[judging]", '[traps]\nsources = ["list"]\n[judging]', "[inputs]", 'sources of traps name "list" as inputs.traps'),
    ("[judging]", "[traps]\nagreed_by = 1\n[judging]", "agreed_by", "2 or more"),
    ("[estimates]", "[estimates]\nstop = 0.95", "stop", 'write "mean:0.95"'),
    ("[estimates]", '[estimates]\nstop = "mean"', "stop", "a stop rule such as"),
    ("[estimates]", '[estimates]\nstop = "mean:95"', "stop", "did you mean mean:0.95"),
    ("[estimates]", '[estimates]\npolicy = "varience"', "policy", "did you mean variance"),
    ("[estimates]", '[estimates]\npolicy = "adaptive"', "policy", "unknown policy"),
    ("[estimates]", '[estimates]\nmargin = 0.1\nstop = "budget:5"', "margin", "the stop rule budget:5 can use"),
    ("[estimates]", "[estimates]\nmargin = -1", "margin", "0 or more"),
    ("[estimates]", "[estimates]\nlevel = 95", "level", "0.95 is 95%"),
    ("[estimates]", "[estimates]\nlevel = 1", "level", "below 1"),
    ("[estimates]", "[estimates]\nsamples = 1", "samples", "2 or more"),
    ("[estimates]", '[estimates]\npredictor = "hierarchy"', "predictor", 'did you mean "hierarchical"'),
    ("[estimates]", '[estimates]\npredictor = "external:a.csv"', "predictor", 'predictions = "a.csv" under'),
    ("[estimates]", '[estimates]\npredictor = "external"', "[inputs]", "as inputs.predictions, got none"),
    ("[judging]", 'model = "m"\n[estimates]\npredictor = "uniform"\nmeasure = "P@5"\n[judging]', "model", "or hier"),
    ("[estimates]", '[estimates]\ninference = "design"\npolicy = "mtc"', "policy", "proportional.*audit = 0.2"),
    ('measure = "AG@5"', 'measure = "AGG@5"', "measure", "did you mean AG"),
    ('scale = "broad"', 'scale = "fine"\n[estimates]\nmeasure = "nDCG(gain=exp)@5"', "measure", "for the scale fine"),
    ("[judging]", '[people]\naddress = "example.org"\n[judging]', "address", "http:// or https://"),
    ("[judging]", "[people]\nretention_days = 0\n[judging]", "retention_days", "1 or more"),
    ("[judging]", '[media]\nformat = "ogg"\n[judging]', "format = \"ogg\"", '"mp3" or "flac" or "wav"'),
    ("[judging]", "[media]\nloudness = 3\n[judging]", "loudness", "-70 or more and at most 0"),
    ("[judging]", '[store]\nurl = "mysql://a/b"\n[judging]', "url", "postgresql://user@server/database"),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new", "start", "message"), WRONG)
def test_what_is_wrong_is_named_with_its_line(tmp_path, old, new, start, message):
    assert SMALL.count(old) == 1 or old == "[judging]"
    content = SMALL.replace(old, new, 1)
    if "[estimates]" in new and old != "[estimates]":
        # A section may stand in a file once.
        content = content.replace('[estimates]\nmeasure = "AG@5"\n', "")
    path = tmp_path / "campaign.toml"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(InputError, match=message) as error:
        Settings.read(path)
    assert error.value.path == str(path)
    if start == "measure" and "[judging]" not in content:
        # The section is missing: it belongs at the end.
        assert error.value.line == content.count("\n")
    else:
        assert error.value.line == (1 if start is None else line_of(content, start))


@pytest.mark.parametrize(
    ("line", "hint"),
    [
        ("group_by_query = True", "true or false in small letters"),
        ("group_by_query = yes", "true or false in small letters"),
        ("scale = broad", 'a text stands in quotes: "broad"'),
        ("scale = 0..3", 'a text stands in quotes: "0..3"'),
        ("rate = 1/6", 'a fraction stands in quotes: "1/6"'),
        (r'folder = "C:\music"', "paths with /"),
        ('scale = "fine"\nscale = "broad"', "twice"),
        ("scale", None),
        ('scale = "fine', None),
        ("runs = [", None),
    ],
)
def test_a_file_that_is_no_toml(line, hint):
    content = SMALL.replace('scale = "broad"', line)
    with pytest.raises(InputError, match="expected TOML, the format of this file, got") as error:
        Settings.parse(content, "campaign.toml")
    first = line_of(SMALL, "scale")
    assert error.value.line >= first
    if hint is not None:
        assert hint in error.value.hint
        assert error.value.line == first + line.count("\n")


def test_a_password_is_refused_and_not_repeated():
    for url in ("postgresql://me:secret@server/study", "postgresql://server/study?password=secret"):
        with pytest.raises(InputError, match="PGPASSWORD") as error:
            Settings.parse(f'{SMALL}[store]\nurl = "{url}"\n')
        assert "secret" not in str(error.value)
        assert error.value.line == SMALL.count("\n") + 2


def test_a_missing_section_belongs_at_the_end():
    content = SMALL.partition("[inputs]")[0]
    with pytest.raises(InputError, match=r"a section \[inputs\] as inputs, got none") as error:
        Settings.parse(content)
    assert error.value.line == content.rstrip("\n").count("\n") + 1


def test_a_value_in_place_of_a_section():
    with pytest.raises(InputError, match=r"a section \[traps\] as traps, got 3") as error:
        Settings.parse(f"traps = 3\n{SMALL}")
    assert error.value.line == 1


def test_no_file(tmp_path):
    with pytest.raises(InputError, match="nothing there"):
        Settings.read(tmp_path / "campaign.toml")


def test_wrong_settings_cannot_be_made_either():
    with pytest.raises(SettingError, match=r"estimates\.stop: expected a stop rule") as error:
        small(**{"estimates.stop": "soon"})
    assert isinstance(error.value, ParameterError)
    assert pickle.loads(pickle.dumps(error.value)).args == error.value.args
    with pytest.raises(ParameterError, match=r"no setting 'estimates\.stopp': did you mean estimates\.stop"):
        small(**{"estimates.stopp": "none"})
    with pytest.raises(ParameterError, match="no setting 'inputs'"):
        small(inputs=3)
    with pytest.raises(SettingError, match="a measure for the scale fine"):
        small(**{"estimates.measure": "nDCG(gain=exp)@5", "judging.scale": "fine"})


def test_policies_of_pairs_are_for_kind_prefer():
    content = SMALL.replace('"grade"', '"prefer"') + 'policy = "told-apart"\n'
    assert Settings.parse(content).estimates.policy == "told-apart"
    with pytest.raises(InputError, match="unknown policy for pairs"):
        Settings.parse(content.replace("told-apart", "mtc"))


# ---- where keys stand ------------------------------------------------------------------------------------------------


def test_lines_of_keys():
    content = '''\
# [not.a.table] a = 1
a = "x # no comment" # a comment = 3
"b c".d = \'\'\'
e = 1
[x]
\'\'\'
f = """
 \\""" g = 2
"""
[ "t 1" . u ]
v = [ 1, [2,
  3], # 4,
  { w = "]", x = { y = 1 } } ]
when = 2026-01-31 12:00:00
[[many]]
n = 1
[[many]]
n = 2
[many.deep]
k.l = "a"
k.m = 5e3
'''
    said = tomllib.loads(content)
    lines = key_lines(content)
    assert lines[("a",)] == 2
    assert lines[("b c",)] == lines[("b c", "d")] == 3
    assert lines[("f",)] == 7
    assert lines[("t 1", "u")] == 10
    assert lines[("t 1", "u", "v", 1, 1)] == 12
    assert lines[("t 1", "u", "v", 2, "x", "y")] == 13
    assert lines[("t 1", "u", "when")] == 14
    assert lines[("many", 0, "n")] == 16
    assert lines[("many", 1)] == 17
    assert lines[("many", 1, "deep", "k", "m")] == 21
    assert set(lines) == set(keys_of(said))
    assert find_line(lines, ("many", 1, "none", "of", "these")) == 17
    assert find_line(lines, ("nowhere",)) is None


def keys_of(value, key=()):
    if key:
        yield key
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, one in inner:
        yield from keys_of(one, (*key, name))


@given(all_settings())
def test_every_key_of_a_file_has_a_line(settings):
    content = fresh(settings)
    lines = key_lines(content)
    assert set(lines) == set(keys_of(tomllib.loads(content)))
    rows = content.split("\n")
    for key, line in lines.items():
        if isinstance(key[-1], str) and len(key) <= 2:
            assert rows[line - 1].startswith((f"{key[-1]} = ", f"[{key[-1]}]"))


# ---- writing ---------------------------------------------------------------------------------------------------------


def test_the_first_file_explains_every_setting(tmp_path):
    path = tmp_path / "campaign.toml"
    small().write(path)
    rows = path.read_text("utf-8").split("\n")
    for setting in setting_names():
        name = setting.rpartition(".")[2]
        at = next(number for number, row in enumerate(rows) if row.removeprefix("# ").startswith(f"{name} = "))
        assert rows[at - 1].startswith("# ")
        assert rows[at - 1].endswith((".", ":"))
    assert max(map(len, rows)) <= 120
    assert sum(
        map(len, map(described, (Inputs, Judging, Traps, Estimates, People, Media, Pages, Recruiting, Store)))
    ) + 5 == len(setting_names())


def test_the_first_file_says_what_cannot_change(tmp_path):
    content = fresh(small())
    for setting in setting_names():
        name = setting.rpartition(".")[2]
        start = content.index(f"\n[{setting.rpartition('.')[0]}]") if "." in setting else 0
        entry = next(at for at in (content.find(f"\n{mark}{name} = ", start) for mark in ("", "# ")) if at >= 0)
        comment = " ".join(content[content.rindex("\n\n", 0, entry) : entry].split("\n# "))
        assert ("cannot change later" in comment) == (setting in FROZEN), setting


def test_settings_that_are_left_out_are_shown_by_a_valid_example():
    content = fresh(small())
    examples = [row.removeprefix("# ") for row in content.split("\n") if row.startswith("# ") and " = " in row]
    assert len(examples) > 10
    for example in examples:
        assert len(tomllib.loads(example)) == 1
    shown = content
    for example in examples:
        shown = shown.replace(f"# {example}", example)
    # The files' names may stand as they are: the paths of files that are not there are no matter of the settings.
    shown = shown.replace("content_ids =", "# content_ids =")
    assert Settings.parse(shown).people.retention_days == 365


def test_a_change_keeps_what_the_person_wrote(tmp_path):
    path = tmp_path / "campaign.toml"
    own = SMALL.replace('scale = "broad"', 'scale   =   "broad"   # as in MIREX').replace(
        "[estimates]", "[traps]\nrate = '1/7' # a seventh\n\n# mine\n[estimates]\nstop='mean:0.95' # sure"
    )
    path.write_text(own, encoding="utf-8")
    settings = Settings.read(path)
    settings.write(path)
    assert path.read_text("utf-8") == own
    run = InputFile("inputs/c.run", HASH[::-1])
    changed = settings.changed(
        **{"estimates.stop": "min:0.9", "inputs.runs": (*settings.inputs.runs, run), "people.retention_days": 30}
    )
    changed.write(path)
    found = path.read_text("utf-8")
    assert Settings.read(path) == changed
    expected = own.replace("'mean:0.95'", '"min:0.9"').replace(
        "written by hand\n", f'written by hand\n  {{ file = "inputs/c.run", sha256 = "{run.sha256}" }},\n'
    )
    assert found.startswith(expected.rstrip("\n"))
    assert tomllib.loads(found[len(expected.rstrip("\n")) :]) == {"people": {"retention_days": 30}}
    changed.changed(**{"people.retention_days": None}).write(path)
    assert Settings.read(path).people.retention_days is None
    assert "# as in MIREX" in path.read_text("utf-8")


def test_a_setting_appears_where_it_is_explained(tmp_path):
    path = tmp_path / "campaign.toml"
    small().write(path)
    first = path.read_text("utf-8")
    changed = small(**{"estimates.policy": "mtc", "media.folder": "songs"})
    changed.write(path)
    assert path.read_text("utf-8") == first.replace('# policy = "variance"', 'policy = "mtc"').replace(
        '# folder = "songs"', 'folder = "songs"'
    )
    changed.changed(**{"media.folder": None}).write(path)
    assert path.read_text("utf-8") == first.replace('# policy = "variance"', 'policy = "mtc"')


def test_settings_in_other_places(tmp_path):
    path = tmp_path / "campaign.toml"
    for content in (
        SMALL.partition("[inputs]")[0]
        + 'inputs.runs = ["a"] # 1\njudging = {scale = "broad"}\nestimates.measure="P@5"',
        SMALL.replace("[judging]", '[inputs.metadata]\nfile = "m.csv"\n[judging]'),
        SMALL.partition("[inputs]")[0]
        + '[[inputs.runs]]\nfile = "a"\n[judging]\nscale="broad"\n[estimates]\nmeasure="P@5"',
        SMALL.replace("[judging]", '[people]\naddress = """\\\n  http://a"""\n[judging]'),
        SMALL.replace('name = "A study"', 'name = """\n# policy = 3\n[judging]\n# metadata = 3\n"""'),
    ):
        path.write_text(content, encoding="utf-8")
        settings = Settings.read(path)
        changed = settings.changed(
            **{
                "name": "Other",
                "estimates.policy": "mtc",
                "judging.judgments_per_item": 3,
                "inputs.metadata": None if settings.inputs.metadata else "n.csv",
                "inputs.runs": [*settings.inputs.runs, "last.run"],
                "people.address": "http://b",
            }
        )
        changed.write(path)
        assert Settings.read(path) == changed


def test_other_line_ends_stay(tmp_path):
    path = tmp_path / "campaign.toml"
    path.write_bytes(SMALL.replace("\n", "\r\n").encode())
    small(name="Other").write(path)
    assert path.read_bytes() == SMALL.replace("A study", "Other").replace("\n", "\r\n").encode()
    path.write_bytes(fresh(small()).replace("\n", "\r\n").encode())
    changed = small(**{"estimates.policy": "mtc"})
    changed.write(path)
    assert b'\r\npolicy = "mtc"\r\n' in path.read_bytes()


def test_a_file_that_cannot_be_read_is_not_written_over(tmp_path):
    path = tmp_path / "campaign.toml"
    path.write_text("nonsense", encoding="utf-8")
    with pytest.raises(InputError, match="TOML"):
        small().write(path)
    assert path.read_text("utf-8") == "nonsense"


# ---- what may change -------------------------------------------------------------------------------------------------


def test_differences_in_the_order_of_the_file():
    changed = small(**{"estimates.stop": "min:0.9", "name": "Other", "inputs.metadata": InputFile("m.csv", HASH)})
    assert Settings.differences(small(), changed) == [
        Difference("name", "A study", "Other"),
        Difference("inputs.metadata", None, {"file": "m.csv", "sha256": HASH}),
        Difference("estimates.stop", "best:0.95:0.02", "min:0.9"),
    ]


OTHER = {
    "id": "f" * 32,
    "kind": "prefer",
    "created": datetime(2026, 2, 1, tzinfo=UTC),
    "judging.scale": "fine",
    "judging.also": "binary",
    "judging.allow_same": False,
    "estimates.measure": "AG@3",
    "estimates.depth": 10,
    "estimates.seed": 1,
    "estimates.whole_queries": True,
    "estimates.aggregation": "median",
    "estimates.predictor": "uniform",
    "inputs.model": InputFile("m.json", HASH),
    "inputs.artist": "performer",
    "inputs.genre": "style",
    "inputs.attributes": ("mood",),
    "inputs.candidates": InputFile("p.csv", HASH),
    "inputs.order": "rank",
    "inputs.encoding": "latin-1",
    "inputs.missing": "drop",
}


def test_every_frozen_setting_is_refused(tmp_path):
    assert set(OTHER) == set(FROZEN) - {"format"}
    before = small(**{"inputs.metadata": InputFile("meta.csv", HASH)})
    for setting, value in OTHER.items():
        path = tmp_path / f"{setting}.toml"
        after = before.changed(**{setting: value})
        after.write(path)
        with pytest.raises(InputError, match=f"as {setting}, got .*cannot change once the campaign exists") as error:
            refuse_frozen(before, after, path)
        rows = path.read_text("utf-8").split("\n")
        assert rows[error.value.line - 1].startswith(f"{setting.rpartition('.')[2]} = ")
        assert error.value.path == str(path)


def test_what_may_change(tmp_path):
    path = tmp_path / "campaign.toml"
    path.write_text(SMALL, encoding="utf-8")
    after = small(
        **{
            "name": "Other",
            "estimates.stop": "none",
            "estimates.policy": "mtc",
            "estimates.predictor_version": "hierarchical 2",
            "inputs.metadata": InputFile("m.csv", HASH),
            "judging.judgments_per_item": 3,
            "store.url": "postgresql://server/study",
            "inputs.runs": [*small().inputs.runs, InputFile("c.run", HASH[::-1])],
        }
    )
    refuse_frozen(small(), after, path)


def test_the_number_of_answers_to_a_pair_is_part_of_what_is_estimated(tmp_path):
    path = tmp_path / "campaign.toml"
    before = Settings.parse(SMALL.replace('"grade"', '"prefer"'))
    before.write(path)
    with pytest.raises(InputError, match=r"judging\.judgments_per_item"):
        refuse_frozen(before, before.changed(**{"judging.judgments_per_item": 5}), path)


@pytest.mark.parametrize("how", ["fewer", "another", "first"])
def test_runs_may_only_grow(tmp_path, how):
    path = tmp_path / "campaign.toml"
    path.write_text(SMALL, encoding="utf-8")
    a, b = InputFile("inputs/a.run", HASH), InputFile("inputs/b.run", HASH[::-1])
    before = small(**{"inputs.runs": (a, b)})
    runs, line = {
        "fewer": ((a,), line_of(SMALL, '  "inputs/b.run"')),
        "another": ((a, InputFile("inputs/b.run", "0" * 64)), line_of(SMALL, '  "inputs/b.run"')),
        "first": ((InputFile("c.run", "0" * 64), a, b), line_of(SMALL, "  { file")),
    }[how]
    with pytest.raises(InputError, match="new runs go to the end") as error:
        refuse_frozen(before, before.changed(**{"inputs.runs": runs}), path)
    assert error.value.line == line


def test_a_file_that_was_moved_is_the_same(tmp_path):
    path = tmp_path / "campaign.toml"
    path.write_text(SMALL, encoding="utf-8")
    before = small(**{"inputs.runs": (InputFile("inputs/a.run", HASH),)})
    refuse_frozen(before, before.changed(**{"inputs.runs": (InputFile("/else/where.run", HASH),)}), path)
