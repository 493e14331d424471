"""Where one state of the head ends and another begins."""

TRAPPED_BELOW = -0.05
"""Mean of cG sign(c1) under which a linear chain or seed sits in the metastable state with c1 cG < 0; far
from both the fluctuations around 0 (about 0.02) and that state (about -0.5)."""

COPYING_ABOVE = 0.35
"""aG above which a softmax record counts as copying; the phases have about 0.02 and 0.6 at the transition."""
