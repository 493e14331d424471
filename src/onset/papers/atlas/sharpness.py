"""The table of sharpness: one row for each order parameter."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from onset.papers.atlas.kinds import name_kind

if TYPE_CHECKING:
    import pandas as pd

    from onset.job.context import Job


def tabulate(job: Job) -> pd.DataFrame:
    """Sharpness with its interval over seeds, the records' resolution, times by definition, and the kind."""
    import pandas as pd

    found = job.inputs["emergence"]
    rows = []
    for i in range(found.sizes["order"]):
        order = found.isel(order=i)
        median, low, high = order["sharpness_interval"].values
        times = {
            f"relative time, {name}": order["relative_time_interval"].values[k, 0]
            for k, name in enumerate(found["definition"].values)
        }
        finite = np.isfinite(order["sharpness"].values)
        resolution = order["resolution"].values[finite]
        rows.append(
            {
                "paper": str(order["paper"].values),
                "order parameter": str(order["order"].values),
                "axis": str(order["along"].values),
                "members": int(order["members"]),
                "that emerge": int(finite.sum()),
                "sharpness": median,
                "low": low,
                "high": high,
                "resolution": float(np.median(resolution)) if len(resolution) else np.nan,
                **times,
                "kind": name_kind(low, high),
            }
        )
    return pd.DataFrame(rows).round(4)
