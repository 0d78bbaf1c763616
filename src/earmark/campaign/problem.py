"""A problem: everything a campaign needs to know before anybody answers, and how it is to conclude.

A problem is immutable, and only a valid one can be made: whoever holds one may conclude, propose and stop without
further checks. Every driver (command line, files, simulation, plan, demonstration, store, web page) gets a problem from
:meth:`Problem.build` and keeps a log of answers; :class:`~earmark.campaign.campaign.Campaign` puts both together.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np
import polars as pl

from earmark.beliefs.beliefs import Beliefs
from earmark.beliefs.exact_estimates import Sparse
from earmark.beliefs.montecarlo import SAMPLES
from earmark.campaign.own_sample import OwnSample
from earmark.campaign.policies import Policy, make_policy
from earmark.campaign.policies.proportional import Audited, Proportional
from earmark.campaign.stopping import DEFAULT_GOAL, StopRule, stop_rule
from earmark.campaign.verdict import Inference, Verdicts
from earmark.data.collection import Collection
from earmark.data.content import Content
from earmark.data.conversion import refuse_paths
from earmark.data.display import Display, Summary, facts
from earmark.data.judgments import Aggregation, Judgments
from earmark.data.metadata import Metadata
from earmark.data.runs import Runs
from earmark.data.scales import Scale
from earmark.errors import InputError, ParameterError
from earmark.evaluation import name_some
from earmark.measures import Measure, parse
from earmark.predictors.base import Maker, Predictor, Setting
from earmark.predictors.choose import PredictorChoice
from earmark.predictors.content_kernels import count_known
from earmark.wording import counted

Missing = Literal["zero", "drop"]

USUAL_CUTOFF = 5
# What may change while a campaign runs; everything else would change what was sampled, or what answers mean.
_CHANGEABLE = frozenset({"policy", "stop", "inference", "samples", "texts"})


@dataclass(frozen=True, eq=False, repr=False)
class Problem(Display):
    """The inputs of a campaign and how it concludes.

    Parameters
    ----------
    setting : Setting
        The collection within the measure's cutoff, its scale and what is known about it.
    measure : Measure
        What systems are compared by.
    predictor : callable
        Makes the predictor for a setting: a :class:`~earmark.predictors.choose.PredictorChoice`, or any function.
    policy : Policy
        What to judge next.
    stop : StopRule
        When to stop.
    inference : Inference
        How verdicts are reached.
    audit : float, 0..1
        The share of judgments that follow the sample order, whatever the policy wants.
    seed : int
        Of the sample order, of ties between items, and where Monte Carlo estimates start.
    aggregation : {"mean", "median", "majority"}
        How to make one gain of several assessors' judgments.
    samples : int
        How many draws a Monte Carlo estimate makes.
    update_every : int
        A predictor with independent beliefs learns from every so many judgments; one in between fixes the gain of its
        own item only.
    texts : mapping of str to str
        Labels of levels, instructions and other texts that assessors see; they change nothing else.
    notes : tuple of str
        What a reader of any result has to know about these inputs.
    runs : Runs, optional
        The ranked lists that the collection was pooled from; needed to select some of the systems and queries.
    sample : OwnSample, optional
        How the judged items were sampled, where they do not follow the order of this measure and seed.
    """

    setting: Setting
    measure: Measure
    predictor: Maker = field(default_factory=PredictorChoice)
    policy: Policy = field(default_factory=lambda: make_policy("variance"))
    stop: StopRule = field(default_factory=stop_rule)
    inference: Inference = field(default_factory=Inference)
    audit: float = 0.0
    seed: int = 0
    aggregation: Aggregation = "mean"
    samples: int = SAMPLES
    update_every: int = 1
    texts: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    runs: Runs | None = None
    sample: OwnSample | None = None

    def __post_init__(self) -> None:
        self.measure.check(self.setting.scale)
        if self.update_every < 1:
            raise ParameterError(f"the number of judgments between two updates is 1 or more, got {self.update_every}")
        if self.samples < 2:
            raise ParameterError(f"a Monte Carlo estimate takes 2 draws or more, got {self.samples}")
        if self.sample is not None and self.inference.whole_queries:
            raise ParameterError("--sample is about items that were drawn one by one, not about --whole-queries")
        if self.inference.mode == "design" and self.sample is None and not self.draws_sample:
            raise ParameterError(
                f"--inference design needs a sample with known probabilities, and the policy {self.policy} draws none: "
                "use --policy proportional, or an audit beside it (--audit 0.2); for judgments that were drawn at "
                "random by other means, say how: --sample"
            )
        _ = self.asking, self.verdicts  # both refuse what does not fit

    @classmethod
    def build(
        cls,
        runs: Runs,
        *,
        judgments: Judgments | None = None,
        measure: str | Measure | None = None,
        scale: Scale | None = None,
        predictor: str | Maker = "hierarchical",
        policy: str | Policy | None = None,
        stop: str | StopRule | None = None,
        goal: str = DEFAULT_GOAL,
        margin: float | None = None,
        budget: int | None = None,
        inference: Inference | None = None,
        audit: float | None = None,
        metadata: Metadata | None = None,
        content: Content | None = None,
        teams: Mapping[str, str] | None = None,
        artist: str = "artist",
        genre: str = "genre",
        attributes: Sequence[str] = (),
        missing: Missing = "zero",
        sample: str | Path | OwnSample | None = None,
        **how: Any,
    ) -> Problem:
        """Put a problem together from what people have: the one place where that is done.

        Parameters
        ----------
        runs : Runs
            The ranked lists; what they hold within the measure's cutoff is what there is to judge.
        judgments : Judgments, optional
            Only their scale is used here, where `scale` is not given.
        measure : str or Measure, optional
            By default ``AG@5``, or the average gain of shorter lists.
        scale : Scale, optional
            By default that of the judgments, else the one the predictor is made for.
        predictor : str or callable
            ``hierarchical``, ``uniform``, ``mtc-output``, ``mtc-judge``, ``ordinal``, ``forest``, ``boosted``,
            ``conditional-tree``, ``conditional-forest`` or ``external:FILE``.
        policy : str
            As written on the command line; by default ``variance``, where verdicts need a sample and no audit draws
            one, ``proportional``.
        stop, goal, margin, budget
            When to stop: see :func:`~earmark.campaign.stopping.goals.stop_rule`.
        inference : Inference, optional
            By default by the model, about these queries.
        audit : float, 0..1, optional
            The share of judgments that follow the sample order; by default :func:`usual_audit`.
        metadata, content, teams, artist, genre, attributes
            What is known about documents and systems, and which columns of the metadata to use.
        missing : {"zero", "drop"}
            Queries that a system did not answer count as empty lists, or are left out for all systems.
        sample : str or path, optional
            How the judged items were sampled, where they do not follow the order of this measure and seed: ``uniform``,
            the measure for which they were sampled, or a file of probabilities
            (:mod:`earmark.campaign.own_sample`).
        **how
            Further fields of :class:`Problem`: seed, aggregation, samples, update_every, texts.

        Raises
        ------
        InputError
            If metadata or content are those of other documents.
        ParameterError
            If settings do not fit each other.
        """
        refuse_paths(runs=runs, judgments=judgments, metadata=metadata, content=content)
        conclude = inference or Inference()
        if policy is None:
            policy = "proportional" if conclude.mode == "design" and not audit else "variance"
        asking = make_policy(policy) if isinstance(policy, str) else policy
        notes: list[str] = []
        lists = _answered(runs, missing, notes)
        chosen = parse(measure) if isinstance(measure, str) else measure or usual_measure(lists, notes)
        chosen.require_mean()
        maker = PredictorChoice(predictor) if isinstance(predictor, str) else predictor
        known = scale or (judgments.scale if judgments is not None else None)
        if known is None:
            known = maker.usual_scale() if isinstance(maker, PredictorChoice) else PredictorChoice().usual_scale()
            notes.append(f"no judgments tell the scale: taking {known}; name it with --scale")
        collection = Collection.from_runs(lists, depth=chosen.cutoff, metadata=metadata)
        notes += metadata_notes(collection, lists)
        notes += _content_notes(collection, content, maker)
        notes += _depth_notes(lists, chosen)
        return cls(
            Setting(collection, known, teams, artist, genre, tuple(attributes), content),
            chosen,
            maker,
            asking,
            stop if isinstance(stop, StopRule) else stop_rule(stop, goal=goal, margin=margin, budget=budget),
            conclude,
            usual_audit(asking, conclude) if audit is None else audit,
            notes=tuple(notes),
            runs=lists,
            sample=OwnSample.parse(sample) if isinstance(sample, str | Path) else sample,
            **how,
        )

    # ---- what is computed once for all looks at a campaign -----------------------------------------------------------

    @property
    def collection(self) -> Collection:
        """The systems, the items and what is known about the documents."""
        return self.setting.collection

    @property
    def scale(self) -> Scale:
        """What items are judged on."""
        return self.setting.scale

    @cached_property
    def model(self) -> Predictor:
        """The predictor, made for this collection."""
        return self.predictor(replace(self.setting, seed=self.seed))

    @cached_property
    def expectations(self) -> Beliefs:
        """What is believed before anything is judged, by a predictor of its own: the model's keeps what it learnt."""
        return self.predictor(self.setting).predict(self.setting.unjudged)

    @cached_property
    def verdicts(self) -> Verdicts:
        """What turns beliefs into verdicts."""
        return Verdicts(
            self.setting,
            self.measure,
            self.model,
            inference=self.inference,
            seed=self.seed,
            samples=self.samples,
            **self._own_sampling,
        )

    @property
    def _own_sampling(self) -> dict[str, Any]:
        if self.sample is None:
            return {}
        drawn = self.sample.sampling(self.collection, runs=self.runs, scale=self.scale, seed=self.seed)
        return {"sampling": drawn, "basis": self.sample.basis}

    @cached_property
    def asking(self) -> Policy:
        """The policy, with its audit where there is one."""
        return Audited(self.policy, self.audit) if self.audit else self.policy

    @property
    def draws_sample(self) -> bool:
        """Whether some of the judgments follow the sample order."""
        return bool(self.audit) or isinstance(self.policy, Proportional)

    @property
    def weights(self) -> Sparse:
        """What the gain of every item adds to the score of every system, by the measure that items are chosen by."""
        return self.verdicts.judging_weights

    @property
    def n_cells(self) -> int:
        """How many pairs of a system and an item there are, whether it retrieved the item or not."""
        return self.collection.n_items * len(self.collection.systems)

    @cached_property
    def items(self) -> pl.DataFrame:
        """``query`` and ``document`` of every item."""
        return self.collection.item_frame()

    # ---- other problems ----------------------------------------------------------------------------------------------

    def changed(self, **changes: Any) -> Problem:
        """Return the problem with settings that may change while a campaign runs.

        These are the policy, the stop rule, the inference (but not whether whole queries are sampled), the number of
        Monte Carlo draws and the texts. Scale, seed, sampling weights and predictor stay what they were.

        Raises
        ------
        ParameterError
            If anything else is to change.
        """
        frozen = sorted(set(changes) - _CHANGEABLE)
        if frozen:
            raise ParameterError(f"'{frozen[0]}' cannot change during a campaign: start another campaign")
        inference = changes.get("inference", self.inference)
        if inference.whole_queries != self.inference.whole_queries:
            raise ParameterError("'whole_queries' cannot change during a campaign: it decides what is sampled")
        return replace(self, **changes)

    def select(
        self, *, systems: Sequence[str] | None = None, queries: Sequence[str] | None = None, seed: int | None = None
    ) -> Problem:
        """Return the problem with some of the systems and queries, and another seed where one is given."""
        again = self.seed if seed is None else seed
        if systems is None and queries is None:
            return replace(self, seed=again)
        if self.runs is None:
            raise ParameterError("systems and queries can only be selected where the problem was built from runs")
        lists = self.runs.select(systems=systems, queries=queries)
        collection = Collection.from_runs(lists, depth=self.measure.cutoff, metadata=self.collection.metadata)
        return replace(self, runs=lists, setting=replace(self.setting, collection=collection), seed=again)

    @property
    def predictor_version(self) -> str:
        """The predictor, with what makes two of the same name predict differently."""
        return f"{self.model.name} {self.model.version}"

    @cached_property
    def digest(self) -> str:
        """A hash of everything that verdicts and proposals depend on."""
        collection, known = self.collection, self.setting
        told = hashlib.sha256()
        for part in (
            collection.systems,
            collection.queries,
            collection.documents,
            None if collection.metadata is None else collection.metadata.frame.write_csv(),
            sorted((known.teams or {}).items()),
            (known.artist, known.genre, tuple(known.attributes)),
            None if known.content is None else (known.content.documents, known.content.values.tobytes()),
            (self.scale.name, self.scale.gains, str(self.measure), self.predictor_version),
            (str(self.policy), str(self.stop), self.stop.margin_apart, self.inference, self.audit, self.seed),
            (self.aggregation, self.samples, self.update_every),
            *(() if self.sample is None else [self.sample.told]),
        ):
            told.update(repr(part).encode("utf-8", "surrogatepass"))
        for array in (
            collection.item_query,
            collection.item_document,
            collection.result_system,
            collection.result_item,
            collection.result_rank,
        ):
            told.update(np.ascontiguousarray(array).tobytes())
        return told.hexdigest()

    def describe(self) -> dict[str, Any]:
        """Return the settings by name, as they are written on the command line."""
        return {
            "measure": str(self.measure),
            "scale": str(self.scale),
            "predictor": self.predictor_version,
            "policy": str(self.asking),
            "stop": str(self.stop),
            "margin": self.stop.margin_apart,
            "inference": self.inference.mode,
            "target": self.inference.target,
            "level": self.inference.level,
            "seed": self.seed,
        }

    def _summary(self) -> Summary:
        """Show what is compared, and how."""
        return Summary(f"{self.collection}; {self.measure}", [facts(**self.describe())], list(self.notes))


def usual_audit(policy: Policy, inference: Inference) -> float:
    """Return the share of sampled judgments that goes with a policy where nobody says another one.

    Verdicts by design have to name what they rest on, and whole queries cost too much to be sampled unasked.
    """
    return policy.sampled_share if inference.mode == "model" and not inference.whole_queries else 0.0


def _answered(runs: Runs, missing: Missing, notes: list[str]) -> Runs:
    """Name the queries that systems did not answer, and drop them where asked to."""
    absent = np.ones((len(runs.systems), len(runs.queries)), dtype=bool)
    absent[runs.list_system, runs.list_query] = False
    fate = "count as empty lists" if missing == "zero" else "are left out for all systems"
    for system, gone in zip(runs.systems, absent, strict=True):
        if gone.any():
            names = [runs.queries[query] for query in np.flatnonzero(gone)]
            notes.append(f"system '{system}' did not answer {name_some(names, 'query', 'queries')}: they {fate}")
    if missing == "zero" or not absent.any():
        return runs
    answered = [runs.queries[query] for query in np.flatnonzero(~absent.any(axis=0))]
    if not answered:
        raise ParameterError("no query was answered by all systems: nothing is left with --missing drop")
    return runs.select(queries=answered)


def usual_measure(runs: Runs, notes: list[str]) -> Measure:
    """Return the measure to take where none is named, and note it."""
    longest = int(runs.lengths.max(initial=1))
    chosen = f"AG@{max(1, min(USUAL_CUTOFF, longest))}"
    why = f", as lists hold no more than {longest}" if longest < USUAL_CUTOFF else ""
    notes.append(f"no --measure given: taking {chosen}{why}")
    return parse(chosen)


def metadata_notes(collection: Collection, runs: Runs, path: Path | None = None) -> list[str]:
    """Say of how many documents there are metadata; refuse those that are of none."""
    if collection.metadata is None or not collection.documents:
        return []
    described = collection.metadata.frame["document"]
    documents = pl.Series(collection.documents, dtype=pl.String)
    known = int(documents.is_in(described.implode()).sum())
    if not known and not runs.documents.is_in(described.implode()).any():
        raise InputError(
            expected="metadata of some of the documents that were retrieved",
            got=f"metadata of none of them; in the runs, documents are named like '{documents[0]}'",
            path=path,
            hint=f"in the metadata, documents are named like '{described[0]}'",
        )
    if known < documents.len():
        return [f"{known:,} of {counted(documents.len(), 'document')} have metadata"]
    return []


def _content_notes(collection: Collection, content: Content | None, maker: Maker) -> list[str]:
    """Say how much of the collection has content, and whether it is used; refuse content of other documents."""
    if content is None:
        return []
    documents, queries = count_known(collection, content)
    if isinstance(maker, PredictorChoice) and not maker.uses_content:
        return ["--content is used by the predictor hierarchical only"]
    of_documents = counted(len(collection.documents), "document")
    of_queries = counted(len(collection.queries), "query", "queries")
    said = [f"{documents:,} of {of_documents} and {queries:,} of {of_queries} have content"]
    if not queries:
        said.append(
            "no query is among the documents of --content, so the distance of a document to its query is not known: "
            "only the likeness of documents to each other is used"
        )
    return said


def _depth_notes(runs: Runs, measure: Measure) -> list[str]:
    lengths = runs.lengths if measure.cutoff is None else np.minimum(runs.lengths, measure.cutoff)
    if lengths.size and lengths.min() < lengths.max():
        return [
            f"lists hold {lengths.min():,} to {lengths.max():,} documents: missing documents at the end have a gain of "
            "0"
        ]
    return []
