"""From scores to verdicts: tests between systems and correlations between rankings."""
