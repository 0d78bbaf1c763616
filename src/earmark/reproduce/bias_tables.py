"""What BIAS prints: the numbers of its tables that can be set beside ours, as printed.

Tables 1.1, 3.1, 3.2 and 3.5 to 3.8 pool the years 2007, 2009, 2010 and 2011; of Tables 2.1, 3.3 and 3.4, the row of
2011 is kept. None stands for what is not legible in the copy at hand.
"""

from __future__ import annotations

MEASURES = {"CG@5": "AG@5", "DCG@5": "nDCG(ideal=scale)@5", "NDCG@5": "nDCG(ideal=pool)@5", "RBP@5": "nRBP(p=0.8)@5"}
"""The paper's measures, scaled to 0..1, and ours. Its persistence p is not given; .8 is that of its literature."""

OUTPUT, SYSTEM_BASED, JUDGMENT, IMPROVED = (
    "output-based, original",
    "output-based, system-based",
    "judgment-based, original",
    "judgment-based, improved",
)

TABLE_2_1 = {"systems": "18", "queries": "100", "total judgments": "8925"}

# Tables 3.1 and 3.5 (scores of systems), 3.2 and 3.6 (differences): the share within intervals at .60, .90, .95, .99.
COVERAGE_SYSTEMS = {
    "CG@5": {
        OUTPUT: ("0.17", "0.35", "0.38", "0.46"),
        SYSTEM_BASED: ("0.19", "0.42", "0.48", "0.63"),
        JUDGMENT: ("0.13", "0.27", "0.29", "0.38"),
        IMPROVED: ("0.21", "0.35", "0.40", "0.48"),
    },
    "DCG@5": {
        OUTPUT: ("0.25", "0.40", "0.46", "0.58"),
        SYSTEM_BASED: ("0.29", "0.48", "0.60", "0.75"),
        JUDGMENT: ("0.19", "0.33", "0.35", "0.52"),
        IMPROVED: ("0.27", "0.40", "0.46", "0.56"),
    },
    "NDCG@5": {
        OUTPUT: ("0.00", "0.00", "0.00", "0.00"),
        SYSTEM_BASED: ("0.00", "0.00", "0.00", "0.00"),
        JUDGMENT: ("0.00", "0.02", "0.02", "0.02"),
        IMPROVED: ("0.00", "0.00", "0.00", "0.00"),
    },
    "RBP@5": {
        OUTPUT: ("0.00", "0.00", "0.00", "0.00"),
        SYSTEM_BASED: ("0.00", "0.00", "0.00", "0.00"),
        JUDGMENT: ("0.02", "0.02", "0.02", "0.02"),
        IMPROVED: ("0.00", "0.00", "0.00", "0.00"),
    },
}
COVERAGE_PAIRS = {
    "CG@5": {
        OUTPUT: ("0.45", "0.75", "0.77", "0.91"),
        SYSTEM_BASED: ("0.47", "0.76", "0.79", "0.92"),
        JUDGMENT: ("0.38", "0.62", "0.67", "0.77"),
        IMPROVED: ("0.41", "0.67", "0.73", "0.79"),
    },
    "DCG@5": {
        OUTPUT: ("0.58", "0.81", "0.90", "0.98"),
        SYSTEM_BASED: ("0.59", "0.84", "0.91", "0.98"),
        JUDGMENT: ("0.46", "0.72", "0.77", "0.90"),
        IMPROVED: ("0.54", "0.75", "0.80", "0.96"),
    },
    "NDCG@5": {
        OUTPUT: ("0.28", "0.46", "0.55", "0.66"),
        SYSTEM_BASED: ("0.27", "0.44", "0.50", "0.62"),
        JUDGMENT: ("0.17", "0.31", "0.35", "0.42"),
        IMPROVED: ("0.22", "0.37", "0.41", "0.50"),
    },
    "RBP@5": {
        OUTPUT: ("0.38", "0.59", "0.67", "0.78"),
        SYSTEM_BASED: ("0.36", "0.55", "0.63", "0.78"),
        JUDGMENT: ("0.24", "0.38", "0.43", "0.52"),
        IMPROVED: ("0.30", "0.44", "0.50", "0.63"),
    },
}

# Table 3.3, 2011: the judgment-based model with own labels in training, and without.
TABLE_3_3 = {
    "100% of the judgments": {
        "RMSE": ("0.182", "0.176"),
        "RPS": ("0.102", "0.092"),
        "reliability": ("0.017", "0.012"),
    },
    "10% of the judgments": {"RMSE": ("0.204", "0.193"), "RPS": ("0.115", "0.102"), "reliability": ("0.019", "0.014")},
}

# Table 3.4, 2011: the largest value of features, then errors of the output-based model.
TABLE_3_4_MAXIMA = {"fART": "0.45", "fGEN": "0.92", "fSYS": "0.56"}
TABLE_3_4_ERRORS = {"RPS": "0.143", "RMSE": "0.256", "variance": "0.060", "reliability": "0.0048"}

# Tables 1.1, 3.7 and 3.8: mean confidence, accuracy and number of pairs in every bin, and in all of them.
BINS = ("[0.49, 0.65)", "[0.65, 0.90)", "[0.90, 0.99)", "[0.99, 1.00]", "total")
PAIRS = 341
Cell = tuple[str | None, str | None, str | None]
Bins = tuple[Cell, Cell, Cell, Cell, Cell]

TABLE_1_1: Bins = (
    ("0.57", "0.71", "18"),
    ("0.80", "0.69", "28"),
    ("0.95", "0.91", "44"),
    ("1.00", "1.00", "251"),
    ("0.92", "0.90", "341"),
)
TABLE_3_7: dict[str, dict[str, Bins]] = {
    "CG@5": {
        OUTPUT: (
            ("0.57", "0.71", "28"),
            ("0.80", "0.69", "55"),
            ("0.95", "0.91", "56"),
            ("1.00", "1.00", "202"),
            ("0.92", "0.90", "341"),
        ),
        SYSTEM_BASED: (
            ("0.58", "0.62", "26"),
            ("0.79", "0.72", "50"),
            ("0.95", "0.85", "53"),
            ("1.00", "1.00", "212"),
            ("0.93", "0.90", "341"),
        ),
    },
    "DCG@5": {
        OUTPUT: (
            ("0.57", "0.65", "40"),
            ("0.79", "0.74", "70"),
            ("0.96", "0.93", "56"),
            ("1.00", "1.00", "175"),
            ("0.90", "0.89", "341"),
        ),
        SYSTEM_BASED: (
            ("0.56", "0.64", "36"),
            ("0.80", "0.71", "72"),
            ("0.96", "0.95", "40"),
            ("1.00", "0.99", "193"),
            ("0.90", "0.89", "341"),
        ),
    },
    "NDCG@5": {
        OUTPUT: (
            ("0.57", "0.62", "8"),
            ("0.78", "0.72", "25"),
            ("0.96", "0.56", "18"),
            ("1.00", "0.95", "290"),
            ("0.97", "0.90", "341"),
        ),
        SYSTEM_BASED: (
            ("0.56", "0.60", "10"),
            ("0.81", "0.71", "24"),
            ("0.96", "0.82", "11"),
            ("1.00", "0.93", "296"),
            ("0.97", "0.90", "341"),
        ),
    },
    "RBP@5": {
        OUTPUT: (
            ("0.57", "0.47", "15"),
            ("0.79", "0.86", "21"),
            ("0.96", "0.66", "29"),
            (None, None, None),
            ("0.96", "0.91", "341"),
        ),
        SYSTEM_BASED: (
            ("0.58", "0.64", "11"),
            ("0.80", "0.62", "16"),
            ("0.95", "0.63", "30"),
            (None, None, None),
            ("0.97", "0.91", "341"),
        ),
    },
}
TABLE_3_8: dict[str, dict[str, Bins]] = {
    "CG@5": {
        JUDGMENT: (
            ("0.57", "0.52", "23"),
            ("0.81", "0.84", "67"),
            ("0.95", "0.94", "62"),
            ("1.00", "0.99", "189"),
            ("0.93", "0.92", "341"),
        ),
        IMPROVED: (
            ("0.58", "0.68", "25"),
            ("0.80", "0.83", "63"),
            ("0.95", "0.95", "64"),
            ("1.00", "0.99", "189"),
            ("0.92", "0.93", "341"),
        ),
    },
    "DCG@5": {
        JUDGMENT: (
            ("0.58", "0.71", "24"),
            ("0.79", "0.83", "90"),
            ("0.96", "0.97", "76"),
            ("1.00", "0.99", "151"),
            ("0.90", "0.93", "341"),
        ),
        IMPROVED: (
            ("0.59", "0.69", "35"),
            ("0.80", "0.88", "80"),
            ("0.95", "0.97", "66"),
            ("1.00", "0.99", "160"),
            ("0.90", "0.93", "341"),
        ),
    },
    "NDCG@5": {
        JUDGMENT: (
            ("0.55", "0.33", "3"),
            ("0.81", "0.65", "17"),
            ("0.96", "0.79", "28"),
            ("1.00", "0.96", "293"),
            ("0.98", "0.92", "341"),
        ),
        IMPROVED: (
            ("0.55", "0.75", "4"),
            ("0.78", "0.53", "19"),
            ("0.95", "0.88", "24"),
            ("1.00", "0.96", "294"),
            ("0.98", "0.93", "341"),
        ),
    },
    "RBP@5": {
        JUDGMENT: (
            ("0.60", "0.69", "13"),
            ("0.83", "0.79", "24"),
            ("0.95", "0.79", "38"),
            (None, None, None),
            (None, None, None),
        ),
        IMPROVED: (
            ("0.60", "0.73", "11"),
            ("0.79", "0.76", "29"),
            ("0.97", "0.88", "43"),
            (None, None, None),
            (None, None, None),
        ),
    },
}

# Section 4.3.1: over four years, on 11 levels.
MOST_PROBABLE_IS_TOP = "0"
ROUNDED_TO_NEXT_TO_TOP = "8"
ROUNDED_TO_TOP = "0"

NOT_REPRODUCED = {
    "Tables and figures of 2007, 2009 and 2010, or pooled": "only 2011 is published with its judgments",
    "the models as fitted": "no coefficients are printed, and the years they were fitted on are not here",
    "Broad scale (Figures 4.2 to 4.7, left)": "the published copy has Fine judgments",
    "Figures 3.1 to 3.3: reliability by sample size": "drawn without numbers",
    "Figures 3.5, 3.6, 3.10, 3.22, 3.23": "drawn without numbers; what they compare is in the tables as far as it goes",
    "Figures 3.11 to 3.21: ctree, cforest, random forests": "other programs' models, drawn without numbers",
    "Figures 3.24 and 3.25, 4.8 and 4.9: by share of judgments": "drawn without numbers",
}
