"""``earmark demo``: music, systems that listen to it, and a campaign that finds out which of them is best."""

from __future__ import annotations

import contextlib
import shlex
import shutil
import signal
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from earmark.cli.command import option
from earmark.cli.options import OUTPUT, Seed
from earmark.cli.output import Column, Output
from earmark.errors import ParameterError
from earmark.wording import in_percent, sentence

if TYPE_CHECKING:
    from earmark.campaign.campaign import Campaign
    from earmark.data.arrays import Floats
    from earmark.demo.collection import DemoCollection, DemoFiles
    from earmark.demo.story import Chapter, Story

_QUERIES_TO_HEAR = 6


def demo(
    ask: Annotated[bool, option()] = False,
    serve: Annotated[bool, option()] = False,
    out: Annotated[Path, option("DIR")] = Path("earmark-demo"),
    port: Annotated[int, option("PORT", min=0, max=65535)] = 8000,
    seed: Seed = 0,
    quiet: Annotated[bool, option("", "-q", panel=OUTPUT)] = False,
) -> None:
    """Run a demonstration: six systems search synthesised music, and few judgments show which system is best.

    The music is synthesised and the systems are real: they hear timbre, rhythm or harmony. A simulated listener judges,
    or you do with --ask. It takes less than a minute, needs no network, and ends with a report to open in a browser and
    the commands that do the same on your files. It needs the extras audio and plots.

    Parameters
    ----------
    ask
        Judge yourself: listen to the clips on a page and type your grades. Started again, it goes on where you stopped.
    serve
        Judge in the browser: a real campaign with this music, a link to judge and one to watch the ranking form.
        Started again, it goes on where you stopped. It needs the extra web too.
    out
        The folder to write to; it is made if it is not there. A folder that contains other files is refused.
    port
        With --serve, the port to listen on; 0 takes a free one.
    quiet
        No messages and no progress bar on standard error, only errors.

    Examples
    --------
    earmark demo
    earmark demo --serve
    earmark demo --ask
    earmark demo --out somewhere --seed 7
    """
    from earmark.audio.sound import load_librosa, load_soundfile
    from earmark.demo.collection import DemoFiles
    from earmark.demo.ownership import refuse_foreign
    from earmark.plots.style import need_matplotlib

    screen = Output("table", quiet)
    need_matplotlib()
    load_soundfile("the demonstration")
    load_librosa("the demonstration")
    if ask and serve:
        raise ParameterError("--ask is for the terminal and --serve for the browser: choose one")
    refuse_foreign(DemoFiles(out))
    if serve:
        _serve(screen, out, seed, port)
        return
    files, made = _make(screen, out, seed)
    _introduce(screen, made, files)
    if ask:
        _ask(screen, made, files, seed)
        _say_what_next(screen, files, asked=files.answers, report=files.own_report, listening=files.questions)
    else:
        _tell(screen, made, files, seed)
        _say_what_next(screen, files, asked=files.asked, report=files.report, listening=files.listening)


def _make(screen: Output, folder: Path, seed: int) -> tuple[DemoFiles, DemoCollection]:
    from earmark.data.outputs import make_folder, together
    from earmark.demo.collection import DemoFiles, make_collection, number_of_songs, write_clip, write_collection
    from earmark.demo.ownership import remember_files
    from earmark.demo.styles import Song

    files = DemoFiles(folder)
    make_folder(folder)
    remember_files(files)

    def keep(song: Song, samples: Floats) -> None:
        write_clip(song, samples, files)

    # All songs and what is known about them appear at once; a run that is interrupted changes nothing.
    with together():
        make_folder(files.clips)
        with screen.progress(number_of_songs(), "making music and listening to it") as advance:
            made = make_collection(seed, on_song=keep, on_sound=lambda: advance(1))
        write_collection(made, files)
        files.remember(seed)
    remember_files(files)
    return files, made


def _serve(screen: Output, folder: Path, seed: int, port: int) -> None:
    """Serve the demonstration as a campaign, in which everybody who has the link may judge."""
    from earmark.cli.campaigns import require_store
    from earmark.cli.serve import address_of, free_port, require_web
    from earmark.demo.collection import DemoFiles

    require_store()
    require_web()
    from earmark.demo.campaign import demo_links, open_demo_campaign
    from earmark.web.serving import Serving
    from earmark.web.serving import serve as run

    files, host = DemoFiles(folder), "127.0.0.1"
    found = free_port(host, port)
    address = address_of(host, found)
    # A campaign that is there has all that is needed and goes on; so do songs that an earlier run has made.
    if not files.campaign.exists() and not files.are_there(seed):
        files, made = _make(screen, folder, seed)
        _introduce(screen, made, files)
    with open_demo_campaign(
        files, seed=seed, address=address, bar=lambda total: screen.progress(total, "preparing clips")
    ) as campaign:
        secret, invitation = demo_links(campaign)
        elsewhere = "" if folder == Path("earmark-demo") else f" --out {shlex.quote(str(folder))}"
        screen.show_whole(
            f"Judge by ear:            {invitation.link(address)}",
            f"Watch the ranking form:  {address}/organise#{secret}\n",
            f"Open both in a browser, side by side. The campaign is in {files.campaign}; Ctrl-C ends the server, and",
            f"'{_program()} demo --serve{elsewhere}' goes on where you stopped.",
        )
        sys.stdout.flush()
    run(Serving(files.campaign, host, found))


def _introduce(screen: Output, made: DemoCollection, files: DemoFiles) -> None:
    from earmark.campaign.plan import SECONDS_PER_JUDGMENT
    from earmark.data.collection import Collection, describe
    from earmark.demo.systems import WHAT_THEY_HEAR

    songs = made.songs
    genres, artists = len({song.genre for song in songs}), len({song.artist for song in songs})
    facts = describe(Collection.from_runs(made.runs))
    screen.show(
        f"{len(songs)} songs of {genres} genres by {artists} artists were synthesised; they are in {files.clips}.\n"
        f"{facts.systems} systems listened to them and answered {facts.queries} queries with 5 similar songs each:\n"
    )
    screen.show_columns(
        [Column("system", list(WHAT_THEY_HEAR), numeric=False)],
        [Column("what it hears", list(WHAT_THEY_HEAR.values()), numeric=False)],
    )
    hours = facts.items * SECONDS_PER_JUDGMENT / 3600
    screen.show(
        f"\nWhich finds the most similar music? Together they found {facts.items:,} pairs of a query and a song.\n"
        f"Judging all of them takes {hours:.1f} hours at {SECONDS_PER_JUDGMENT:g} s each. How few are enough?\n"
    )


def _tell(screen: Output, made: DemoCollection, files: DemoFiles, seed: int) -> None:
    """Play the campaign with the made-up listener and compare it with the truth."""
    from earmark.data.writers import write_judgments
    from earmark.demo.listening import answers_page, write_page
    from earmark.demo.story import decided_wrongly, tell, typical_answers, write_progress

    items, judged = made.judgments.frame.height, 0
    with screen.progress(items, "judging") as advance:

        def tick(chapter: Chapter) -> None:
            nonlocal judged
            advance(chapter.look.judged - judged)
            judged = chapter.look.judged

        story = tell(made, seed=seed, progress=tick)
    _show_estimates(screen, story)
    _show_confidence(screen, story)
    last, items = story.chapters[-1].look, story.truth.gains.size
    share = 100 * last.judged / items
    screen.show(
        f"\nThe campaign stopped after {last.judged:,} of {items:,} judgments ({share:.0f}%): {last.decision.reason}."
    )
    decided, wrong = decided_wrongly(story, last)
    are = "are" if wrong > 1 else "is"
    screen.show(f"Of {decided} pairs that it calls decided, {wrong or 'none'} {are} in the wrong order.\n")
    examples = typical_answers(made, queries=_QUERIES_TO_HEAR)
    write_page(answers_page(examples, files.addresses(made.songs)), files.listening)
    assert story.end.judgments is not None
    write_judgments(story.end.judgments, files.asked)
    write_progress(story, files.progress)
    _report(screen, story.end, files.report, story)


def _show_estimates(screen: Output, story: Story) -> None:
    from earmark.demo.story import MEASURE, pauses, told_frame

    frame = told_frame(story)
    columns = []
    for chapter in pauses(story.chapters):
        judged = chapter.look.judged
        cells = [
            f"{_short(estimate)} ±{_short(half)}"
            for estimate, half in zip(frame[f"estimate_{judged}"], frame[f"half_{judged}"], strict=True)
        ]
        stops = "stop: " if chapter.look.decision.stop else ""
        columns.append(Column(f"{stops}{judged or 'nothing'}\njudged", cells))
    columns.append(Column("all\njudged", [_short(value) for value in frame["truth"]]))
    screen.show_columns(
        [Column(f"\n{MEASURE}", frame["system"].to_list(), numeric=False)],
        columns,
        caption="± is half of a 95% interval. What makes all scores higher or lower together\ncancels in comparisons.",
    )


def _short(value: float) -> str:
    """Print a share of 1 so that many fit in a row."""
    return f"{value:.2f}".removeprefix("0")


def _show_confidence(screen: Output, story: Story) -> None:
    from earmark.demo.story import pauses

    outcomes = [chapter.outcome for chapter in pauses(story.chapters)]
    screen.show("")
    screen.show_columns(
        [Column("judged", [f"{one.judged:,}" for one in outcomes])],
        [
            Column("mean\nconfidence", [in_percent(one.mean_confidence) for one in outcomes]),
            Column("accuracy\n(pairs in order)", [in_percent(one.accuracy) for one in outcomes]),
            Column(
                "95% intervals of pairs\nthat contain the truth",
                [in_percent(one.coverage_pairs_95) for one in outcomes],
            ),
        ],
    )


def _ask(screen: Output, made: DemoCollection, files: DemoFiles, seed: int) -> None:
    """Let the person at the terminal judge."""
    from earmark.campaign.loop import play
    from earmark.demo.asking import Enough, Person
    from earmark.demo.story import BATCH

    person = Person.at_terminal(made, files, seed=seed, say=screen.show_whole, hear=_hear)
    if person.campaign.judged:
        screen.show(f"You have judged {person.campaign.judged} already ({files.answers}); the demonstration continues.")
    try:
        for campaign in play(person.campaign, person, batch=BATCH):
            order = ", ".join(campaign.ranking.systems_frame()["system"])
            sure = in_percent(campaign.ranking.mean_confidence)
            screen.show(f"\n{campaign.judged} judged, {sure} sure on average of the order: {order}\n")
    except Enough:
        screen.show("\nEnough for now; earmark demo --ask goes on where you stopped.")
    screen.show("")
    if person.campaign.judged:
        _report(screen, person.campaign, files.own_report)


def _hear(prompt: str) -> str:
    sys.stderr.write(prompt)
    sys.stderr.flush()
    with _interruptible():
        typed = sys.stdin.readline()
    if not typed:
        raise EOFError
    return typed


@contextlib.contextmanager
def _interruptible() -> Iterator[None]:
    """Let Ctrl-C end a wait for input: polars has a handler of its own, after which reading goes on."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _report(screen: Output, campaign: Campaign, path: Path, story: Story | None = None) -> None:
    from earmark.campaign.statements import range_note, say_verdict
    from earmark.demo.story import demo_findings
    from earmark.report import write_report

    findings = demo_findings(campaign, story)
    write_report(findings, path)
    said = say_verdict(findings.ranking, findings.forecast)
    under = (*map(sentence, said.premises), *filter(None, [range_note(said.headline)]))
    screen.show(said.headline, *under, said.summary, "")


def _say_what_next(screen: Output, files: DemoFiles, *, asked: Path, report: Path, listening: Path) -> None:
    runs, judged, every, metadata, content, clips, again = (
        shlex.quote(str(path))
        for path in (
            files.runs,
            asked,
            files.judgments,
            files.metadata,
            files.content,
            files.clips,
            files.again,
        )
    )
    program = _program()
    known = (
        f"--judgments {judged} --metadata {metadata} -m AG@5" if asked.exists() else f"--metadata {metadata} -m AG@5"
    )
    if report.exists():
        screen.show_whole(f"The report:       {report.resolve().as_uri()}")
    screen.show_whole(
        f"Listen yourself:  {listening.resolve().as_uri()}",
        f"Judge by ear:     {program} demo --serve\n",
        "Try more with these files, and then with your own:",
        f"  {program} rank {runs} {known}",
        f"  {program} next {runs} {known} -n 10",
        f"  {program} report {runs} {known} -o {again}",
        f"  {program} evaluate {runs} --judgments {every} -m AG@5 -m nDCG@5",
        f"  {program} simulate {runs} --judgments {every} --metadata {metadata} -m AG@5 --stop mean:0.95",
        f"  {program} features --audio {clips} -o {content}",
    )


def _program() -> str:
    """Return how this program is called here: by its path, where a shell would not find it by its name."""
    called = Path(sys.argv[0])
    return shlex.quote(str(called)) if called.name == "earmark" and not shutil.which("earmark") else "earmark"
