"""Claims of the toy paper."""

from onset.papers.toy.tell import note

from onset.claims.claim import Claim, Measured


def measure_end(inputs):
    """Distance of the last positions from the end."""
    note("claims/fig1")
    last = inputs["fit"]["place"].isel(step=-1).mean()
    return Measured(float(abs(last - inputs["line"]["end"])))


CLAIMS = (
    Claim(
        id="end",
        place="nowhere",
        sentence="The walk ends at the line.",
        standing="reconstruction",
        measure=measure_end,
        low=None,
        high=1.0,
        reason="the mean of 50 points",
    ),
)
