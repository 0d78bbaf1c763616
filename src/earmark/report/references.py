"""Where the methods that reports name come from, as the references page of the documentation has it."""

from __future__ import annotations

REFERENCES = {
    "Buckers2021": (
        "T. Buckers (2021). Dealing with overconfidence and bias in low-cost evaluation of audio music "
        "similarity. Master's thesis, Delft University of Technology."
    ),
    "Buckley2004": (
        "C. Buckley, E. M. Voorhees (2004). Retrieval evaluation with incomplete information. SIGIR, 25–32."
    ),
    "Chapelle2009": (
        "O. Chapelle, D. Metzler, Y. Zhang, P. Grinspan (2009). Expected reciprocal rank for graded "
        "relevance. CIKM, 621–630."
    ),
    "Clarke2021": (
        "C. L. A. Clarke, A. Vtyurina, M. D. Smucker (2021). Assessing top-k preferences. ACM Transactions on "
        "Information Systems 39(3), article 33. The measure was proposed by the same authors in: Offline "
        "evaluation without gain, ICTIR 2020."
    ),
    "Cochran1977": "W. G. Cochran (1977). Sampling techniques. 3rd edition, Wiley.",
    "Duffield2007": (
        "N. Duffield, C. Lund, M. Thorup (2007). Priority sampling for estimation of arbitrary subset sums. "
        "Journal of the ACM 54(6), article 32."
    ),
    "Fawcett2006": ("T. Fawcett (2006). An introduction to ROC analysis. Pattern Recognition Letters 27(8), 861–874."),
    "Gilmour1995": (
        "A. R. Gilmour, R. Thompson, B. R. Cullis (1995). Average information REML: an efficient algorithm "
        "for variance parameter estimation in linear mixed models. Biometrics 51(4), 1440–1450."
    ),
    "ir_measures": (
        "S. MacAvaney, C. Macdonald, I. Ounis (2022). Streamlining evaluation with ir-measures. ECIR. "
        "Software: https://ir-measur.es."
    ),
    "Jarvelin2002": (
        "K. Järvelin, J. Kekäläinen (2002). Cumulated gain-based evaluation of IR techniques. ACM "
        "Transactions on Information Systems 20(4), 422–446."
    ),
    "Krippendorff2011": (
        "K. Krippendorff (2011). Computing Krippendorff's alpha-reliability. University of Pennsylvania."
    ),
    "Manning2008": (
        "C. D. Manning, P. Raghavan, H. Schütze (2008). Introduction to Information Retrieval. Cambridge "
        "University Press."
    ),
    "McCullagh1980": (
        "P. McCullagh (1980). Regression models for ordinal data. Journal of the Royal Statistical Society B "
        "42(2), 109–142."
    ),
    "Moffat2008": (
        "A. Moffat, J. Zobel (2008). Rank-biased precision for measurement of retrieval effectiveness. ACM "
        "Transactions on Information Systems 27(1), article 2."
    ),
    "Robbins1970": (
        "H. Robbins (1970). Statistical methods related to the law of the iterated logarithm. The Annals of "
        "Mathematical Statistics 41(5), 1397–1409."
    ),
    "Sakai2004": (
        "T. Sakai (2004). New performance metrics based on multigrade relevance: their application to "
        "question answering. NTCIR Workshop 4."
    ),
    "Sarndal1992": "C.-E. Särndal, B. Swensson, J. Wretman (1992). Model assisted survey sampling. Springer.",
    "Satterthwaite1946": (
        "F. E. Satterthwaite (1946). An approximate distribution of estimates of variance components. "
        "Biometrics Bulletin 2(6), 110–114."
    ),
    "Serra2007": (
        "J. Serrà (2007). A qualitative assessment of measures for the evaluation of a cover song "
        "identification system. ISMIR."
    ),
    "trec_eval": (
        "C. Buckley, E. M. Voorhees and others. trec_eval, the evaluation program of TREC. Software of the "
        "National Institute of Standards and Technology, https://github.com/usnistgov/trec_eval."
    ),
    "Typke2006": (
        "R. Typke, R. C. Veltkamp, F. Wiering (2006). A measure for evaluating retrieval techniques based on "
        "partially ordered ground truth lists. IEEE International Conference on Multimedia and Expo (ICME), "
        "1793–1796."
    ),
    "Urbano2013": (
        "J. Urbano, M. Schedl (2013). Minimal test collections for low-cost evaluation of audio music "
        "similarity and retrieval systems. International Journal of Multimedia Information Retrieval 2(1), "
        "59–70."
    ),
    "VanRijsbergen1979": "C. J. van Rijsbergen (1979). Information Retrieval, 2nd edition. Butterworths.",
    "WaudbySmith2024": (
        "I. Waudby-Smith, D. Arbour, R. Sinha, E. H. Kennedy, A. Ramdas (2024). Time-uniform central limit "
        "theory and asymptotic confidence sequences. The Annals of Statistics 52(6), 2613–2640."
    ),
    "Yilmaz2006": (
        "E. Yilmaz, J. A. Aslam (2006). Estimating average precision with incomplete and imperfect judgments. "
        "CIKM, 102–111."
    ),
}
