"""Theory of the toy paper."""

import xarray as xr
from onset.papers.toy.tell import tell


def solve_line(job):
    """The end of the walk."""
    tell(job)
    end = job.sections["world"].mean + job.own.offset
    return xr.Dataset({"end": ((), float(end), {"long_name": "end of the walk", "units": "1"})})
