"""How fast an ordinal regression is fitted, beside statsmodels."""
