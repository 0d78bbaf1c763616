"""How honest the stated confidence is: studies on real and on made-up collections, one command each.

Linear algebra on many small matrices is slower with several threads than with one.
"""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
