r"""What documents that nobody judged could change: shares, bounds of scores and bounds of differences.

Judgments are often the pool of other systems. A measure takes what nobody judged for worthless, so a system that was
not pooled scores less than it deserves, by an amount that no test between systems can see. Here it is bounded. The
*unjudged documents* of a query are those that some system of the evaluation retrieved within the measure's cutoff and
nobody judged; their gains may be anything from 0 to the top of the scale. Without a cutoff, or with one beyond it, the
first :data:`DEPTH` ranks count, and what stands below is taken for not relevant, as pools of that depth take it.

A bound of a difference of two systems holds whatever *all* unjudged documents are. A document that both retrieved has
one gain, which counts once; one that a third system retrieved changes the best possible ranking and nothing else.

- A weighted sum of gains: :math:`\Delta + \sum_d \max(0, w_{Ad} - w_{Bd})\, u(g_{top})`, which is exact, and the same
  with the minimum.
- A weighted sum divided by that of the best ranking (nDCG, recall): with thresholds :math:`t` of worth, both are sums
  over the layers between thresholds, :math:`N = \sum_t \delta_t \sum_{d : u_d \ge t} w_d` and
  :math:`I = \sum_t \delta_t W^*(n_t)` for :math:`n_t` documents of at least :math:`t`, so the greatest ratio is found
  layer by layer within Dinkelbach's iteration [1]_. It is exact where the bound is 0 or more, and where gains are
  binary.
- The first relevant document (RR, Success): exact, since one document makes the difference.
- Average precision and ERR: bounds of both scores, whose difference is not as sharp as can be.
- Any other measure of a finite range: its range, for every query with an unjudged document.
- Measures that leave out what nobody judged (bpref, infAP), or of unbounded range: no bounds.

References
----------
.. [1] W. Dinkelbach (1967). On nonlinear fractional programming. Management Science 13(7), 492-498.
"""
