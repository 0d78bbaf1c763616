"""How far a predictor and the estimates that rest on it may be trusted, where the truth is known."""
