"""What MTC prints: the numbers of its tables that can be set beside ours, as printed.

Tables 1, 2, 3 and 5 have one row per year, of which 2011 is kept; Tables 4 and 6 pool the 352 pairs of systems of
2007, 2009, 2010 and 2011.
"""

from __future__ import annotations

# The appendix: the features of one document, and what follows step by step.
EXAMPLE_FEATURES = {"pTEAM": 0.25, "OV": 0.8053, "pART": 0.0217, "sGEN": 1.0, "pGEN": 0.8478}
EXAMPLE = {
    "log-odds of G ≥ 2": "0.8798",
    "log-odds of G ≥ 1": "2.9634",
    "P(G ≥ 2)": "0.7068",
    "P(G ≥ 1)": "0.9509",
    "P(G = 2)": "0.7068",
    "P(G = 1)": "0.2441",
    "P(G = 0)": "0.0491",
    "E[G]": "1.6577",
    "Var[G]": "0.3233",
}

# Table 1, overlap in percent.
TABLE_1 = {"systems": "18", "queries": "100", "results": "9000", "judgments": "6322", "overlap, %": "30"}

# Table 2: RMSE and variance; Table 7 has the same for models fitted on all years.
TABLE_2 = {
    "fine": {"uniform": ("29.6", "850"), "L_output": ("25.2", "561"), "L_judge": ("9.36", "72")},
    "broad": {"uniform": ("0.789", "0.667"), "L_output": ("0.690", "0.390"), "L_judge": ("0.304", "0.078")},
}
TABLE_7 = {
    "fine": {"L_output": ("24.1", "591"), "L_judge": ("8.97", "72")},
    "broad": {"L_output": ("0.651", "0.422"), "L_judge": ("0.275", "0.071")},
}

# Table 3: judgments until the mean confidence is .95, accuracy and τ there. Figure 2: with uniform beliefs, percent.
TABLE_3 = {"fine": ("120", "0.941", "0.882"), "broad": ("120", "0.941", "0.882")}
FIGURE_2_UNIFORM = "60"

# Table 5: confidence, accuracy and τ without judgments.
TABLE_5 = {"fine": ("0.942", "0.948", "0.895"), "broad": ("0.939", "0.948", "0.895")}

# Tables 4 and 6: percent of the pairs in every bin of confidence, and their accuracy.
BINS = ("[0.50, 0.60)", "[0.60, 0.70)", "[0.70, 0.80)", "[0.80, 0.90)", "[0.90, 0.95)", "[0.95, 0.99)", "[0.99, 1)")
TABLE_4 = {
    "fine": (
        ("3.7", "3.7", "2.0", "6.8", "4.3", "6.2", "73.3"),
        ("0.615", "0.846", "0.714", "0.833", "0.667", "0.909", "0.996"),
    ),
    "broad": (
        ("2.0", "4.3", "3.1", "6.8", "4.3", "8.8", "70.7"),
        ("0.714", "0.733", "0.818", "0.833", "0.733", "1.000", "0.992"),
    ),
}
TABLE_6 = {
    "fine": (
        ("4.5", "4.3", "4.3", "6.8", "3.7", "8.8", "67.6"),
        ("0.625", "0.867", "0.733", "0.792", "0.846", "0.903", "0.996"),
    ),
    "broad": (
        ("4.5", "4.8", "4.3", "6.8", "4.5", "9.4", "65.6"),
        ("0.500", "0.882", "0.800", "0.792", "0.875", "0.909", "0.996"),
    ),
}

OTHER_YEARS = "only the collection of 2011 is published with its judgments"
NOT_REPRODUCED = {
    "Tables 1, 2, 3 and 5: 2006, 2007, 2009, 2010": OTHER_YEARS,
    "Tables 4 and 6, pooled over four years": f"{OTHER_YEARS}: ours are its 153 pairs",
    "Tables 2, 3 and 5: models fitted without 2011": "only Table 7's coefficients are printed, fitted on all years",
    "Table 1: teams": "systems are anonymous in the published copy; pTEAM falls back to pSYS",
    "Tables 2 to 6: the Broad scale": "the published copy has Fine judgments; a Broad version is derived from them",
    "Table 7: refitted coefficients, R²": f"{OTHER_YEARS}, and OV is constant within one year",
    "Section 4.3: errors among assessors of 2006": OTHER_YEARS,
}
