"""Which options name files that are read, and which name files that are written: no command writes what it reads.

All options of all commands that name a file or a folder are declared here, by their names; a test finds one that is
not. Before a command starts, its outputs are compared with its inputs and with each other (:func:`guarded`): as paths
without links, and as files on the disk, so that neither a link nor a second name hides that they are the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal, get_args

from earmark.cli import folder as campaigns
from earmark.data.claims import ELSEWHERE, guarding, input_error, keyed, keys_of
from earmark.data.outputs import check_output
from earmark.errors import EarmarkError, InputError

Role = Literal["input", "output", "output folder", "campaign"]
Labelled = tuple[str, Path]

_INPUTS = (
    *("runs", "judgments", "cliques", "groups", "metadata", "teams", "content", "content_ids", "model", "candidates"),
    *("files", "file", "results", "questions", "asked", "config", "preferences", "answers", "against", "theme_map"),
    *("matrix", "ids", "queries", "recordings", "audio", "media", "media_map", "data"),
    *("traps", "consent", "questionnaire", "training", "history"),
)
_OUTPUTS = ("output", "kept", "left_out", "bonuses", "workers", "package_output", "write_config", "append")

ROLES: dict[str, Role] = {
    **dict.fromkeys(_INPUTS, "input"),
    **dict.fromkeys(_OUTPUTS, "output"),
    # The files in it are written one by one.
    "assets": "output folder",
    "publish": "output folder",
    "figures": "output folder",
    "crowd clips: output": "output folder",
    # It knows its own files, and writes to no other folder.
    "out": "output folder",
    # Made by commands that refuse one that is there, and changed by others through its store alone.
    "folder": "campaign",
}
"""What an option is, by its name; before that, by its command and its name."""


def role_of(command: str, name: str) -> Role | None:
    """Return what an option of a command is; None for one that names no file."""
    return ROLES.get(f"{command}: {name}") or ROLES.get(name)


@contextmanager
def guarded(command: str, labels: Mapping[str, str], values: Mapping[str, Any]) -> Iterator[None]:
    """Refuse outputs that are inputs or each other, and keep watch while the command runs.

    Parameters
    ----------
    command : str
        Its name, without ``earmark``.
    labels : mapping of str to str
        What each option is called on the command line, by the name of its parameter.
    values : mapping of str to any
        Their values.

    Raises
    ------
    InputError
        If an output is an input, is in a folder of inputs, is named twice, or cannot be written.
    """
    named = {role: list(_named(command, role, labels, values)) for role in get_args(Role)}
    files = [*named["output"], *(_ALSO[command](values) if command in _ALSO else ())]
    outputs = [*files, *named["output folder"]]
    if not outputs:
        yield
        return
    inputs = [(label, path) for label, path in (*named["input"], *_in_texts(values)) if not path.is_dir()]
    folders = [(label, path) for label, path in named["input"] if path.is_dir() and not campaigns.is_folder(path)]
    stored = {path for _, path in (*named["input"], *named["campaign"]) if campaigns.is_folder(path)}
    for path in stored:
        of_files, of_folders = ([(f"the campaign {path}", one) for one in of] for of in _belonging(path))
        _refuse_same(outputs, keyed(of_files))
        _refuse_inside(files, of_folders)
    known = keyed(inputs)
    _refuse_same(outputs, known)
    # The questions of the next round belong with the answers of the earlier ones.
    _refuse_inside(files, [one for one in folders if command != "next" or one[0] != labels.get("judgments")])
    _refuse_twice(outputs)
    for _, path in named["output"]:
        check_output(path)
    with guarding(known, keyed(files)):
        yield


def _named(command: str, role: Role, labels: Mapping[str, str], values: Mapping[str, Any]) -> Iterator[Labelled]:
    """Yield the files and folders that options of a role name."""
    for name, value in values.items():
        if role_of(command, name) == role:
            for one in value if isinstance(value, list | tuple) else [value]:
                if isinstance(one, Path):
                    yield labels.get(name, name), one


def _in_texts(values: Mapping[str, Any]) -> Iterator[Labelled]:
    """Yield the files that stand inside the text of an option."""
    for text in values.get("also") or ():
        for part in str(text).split(","):
            yield "--also", Path(part.strip())
    kind, sign, file = str(values.get("predictor") or "").partition("external:")
    if sign and not kind:
        yield "--predictor", Path(file)
    if values.get("sample") is not None:
        yield "--sample", Path(str(values["sample"]))


# ---- what a command writes besides what is named ---------------------------------------------------------------------


def _clips(values: Mapping[str, Any]) -> list[Labelled]:
    from earmark.crowd.clips import clip_files

    return [("--output", one) for one in clip_files(values["recordings"], values["output"], ending=values["ending"])]


def _ids(values: Mapping[str, Any]) -> list[Labelled]:
    if values.get("output") is None:
        return []
    from earmark.data.content import content_outputs

    return [("--output (the ids)", one) for one in content_outputs(values["output"])[1:]]


def _tasks(values: Mapping[str, Any]) -> list[Labelled]:
    if values.get("package") is None or values.get("package_output") is not None or values.get("output") is None:
        return []
    from earmark.cli.crowd_questions import tasks_beside

    return [("--package", tasks_beside(values["output"]))]


def _assets(values: Mapping[str, Any]) -> list[Labelled]:
    if values.get("assets") is None and values.get("publish") is None:
        return []
    from earmark.report.assets import NAMES
    from earmark.report.publication import PUBLISHED

    folders = (("assets", NAMES), ("publish", PUBLISHED))
    return [(f"--{at}", values[at] / name) for at, names in folders if values.get(at) is not None for name in names]


def _figures(values: Mapping[str, Any]) -> list[Labelled]:
    if values.get("figures") is None:
        return []
    from earmark.reproduce.figures import file_names

    return [("--figures", values["figures"] / name) for name in file_names(values["paper"])]


_ALSO: dict[str, Callable[[Mapping[str, Any]], list[Labelled]]] = {
    "crowd clips": _clips,
    "crowd questions": _tasks,
    "features": _ids,
    "report": _assets,
    "reproduce": _figures,
}


def _belonging(folder: Path) -> tuple[list[Path], list[Path]]:
    """Return the files and the folders that a campaign cannot do without, wherever they are."""
    files = [folder / name for name in ("campaign.toml", "campaign.db", ".store-password")]
    folders = [folder / "inputs", folder / "media"]
    try:
        from earmark.store.address import store_url

        settings = campaigns.read_settings(folder)
        files += [folder / file.file for _, file in settings.inputs.files()]
        if settings.media.folder is not None:
            folders.append(Path(settings.media.folder))
        url = store_url(folder, settings)
        if url.get_backend_name() == "sqlite" and url.database:
            files.append(Path(url.database))
    except (EarmarkError, ImportError):
        # The command has the same trouble, and says more about it.
        pass
    return files + [Path(f"{one}{ending}") for one in files for ending in ("-wal", "-shm", "-journal")], folders


# ---- refusals --------------------------------------------------------------------------------------------------------


def _refuse_same(outputs: Sequence[Labelled], known: Mapping[Any, str]) -> None:
    for _, path in outputs:
        for key in keys_of(path):
            if key in known:
                raise input_error(path, known[key])


def _refuse_inside(outputs: Sequence[Labelled], folders: Sequence[Labelled]) -> None:
    """Refuse a file in a folder that is read as a whole, of which it would become a part."""
    whole = [(label, folder.resolve()) for label, folder in folders]
    for _, path in outputs:
        for label, folder in whole:
            if folder in path.resolve().parents:
                got = f"a file in the folder of {label}"
                raise InputError(expected="a file to write to", got=got, path=path, hint="write to another folder")


def _refuse_twice(outputs: Sequence[Labelled]) -> None:
    seen: dict[Any, str] = {}
    for label, path in outputs:
        keys = keys_of(path)
        for key in keys:
            if key in seen:
                got = f"the same for {label} and {seen[key]}" if label != seen[key] else f"the same twice for {label}"
                raise InputError(expected="a file for each output", got=got, path=path, hint=ELSEWHERE)
        seen |= dict.fromkeys(keys, label)
