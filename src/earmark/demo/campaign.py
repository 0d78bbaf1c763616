"""The demonstration as a campaign that lasts: its music is judged by ear, in the browser."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

from earmark.demo.collection import DemoFiles
from earmark.demo.story import MEASURE
from earmark.store.folder import CampaignFolder, is_campaign_folder
from earmark.store.inputs import add_inputs
from earmark.store.links import Invitation, link_for, new_organiser_link
from earmark.store.people import pseudonym
from earmark.store.settings import Estimates, Judging, Media, Pages, People, Settings, Traps
from earmark.store.showing import prepare_shown

Bar = Callable[[int], AbstractContextManager[Callable[[int], None]]]

_YOU = "You"


def open_demo_campaign(files: DemoFiles, *, seed: int, address: str, bar: Bar) -> CampaignFolder:
    """Open the campaign of the demonstration; it is made where there is none yet.

    Parameters
    ----------
    files : DemoFiles
        Where the demonstration is.
    seed : int
    address : str
        What links start with.
    bar : callable
        Given how many steps there are, shows progress.
    """
    if not is_campaign_folder(files.campaign):

        def make(draft: Path) -> Settings:
            return _settings(draft, files, seed, address)

        def prepare(draft: Path, settings: Settings) -> Settings:
            prepare_shown(draft, settings, media=files.clips, bar=bar)
            return settings

        CampaignFolder.create(files.campaign, make, prepare=prepare).close()
    folder = CampaignFolder.open(files.campaign)
    return folder.rewrite_settings({"people.address": address})


def _settings(draft: Path, files: DemoFiles, seed: int, address: str) -> Settings:
    return Settings(
        name="earmark demo",
        inputs=add_inputs(draft, runs=[files.runs], files={"metadata": files.metadata}),
        judging=Judging(scale="broad"),
        traps=Traps(),
        estimates=Estimates(measure=MEASURE, seed=seed),
        people=People(address=address),
        # The songs are short, and whole ones are heard.
        media=Media(folder=str(files.clips.resolve()), start=0.0, seconds=10.0),
        pages=Pages(title="Which songs are alike?", minimum_seconds=1.0, look_early=True),
    )


def demo_links(folder: CampaignFolder) -> tuple[str, Invitation]:
    """Return the secret of a new organiser's link, and one more link to judge with, beside earlier ones."""
    invitation = folder.store.write(lambda change: link_for(change, pseudonym(change, name=_YOU)))
    return new_organiser_link(folder.store), invitation
