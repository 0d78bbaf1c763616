"""From run files to mean scores: earmark beside pytrec_eval, ir_measures and ranx on the same files."""
