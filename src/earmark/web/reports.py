"""The report of a running or closed campaign, as the command ``earmark report`` writes it."""

from __future__ import annotations

from earmark.report import Reproduction, gather_findings, gather_kind, kind_html, report_html, versions_here
from earmark.store.folder import CampaignFolder
from earmark.store.stored import StoredCampaign, read_stored


def campaign_report(folder: CampaignFolder) -> str:
    """Return the report of a campaign as one page that needs no other file.

    Raises
    ------
    ParameterError
        If too little is judged to conclude from.
    MissingLibraryError
        Where matplotlib, which draws the figures, is not installed.
    """
    campaign = read_stored(folder)
    files = [(str(file.file), file.sha256) for _, file in folder.settings.inputs.files()]
    files.append((f"the log up to event {campaign.log.next_sequence - 1:,}", campaign.log.digest))
    how = Reproduction(f"earmark report {folder.path.name} -o report.html", files, versions_here())
    if isinstance(campaign, StoredCampaign):
        return report_html(gather_findings(campaign, reproduction=how))
    return kind_html(gather_kind(campaign, log=campaign.log, reproduction=how))
