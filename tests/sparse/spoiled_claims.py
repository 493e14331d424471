"""What makes each claim untrue: changes to the small results, with the claims that should fail of each.

`SPOILED[figure][what]` is a function that changes a figure's inputs in place, and the names of those claims.
"""

from __future__ import annotations

import numpy as np
from tests.sparse import synthetic_sparse
from tests.sparse.synthetic_sparse import NEVER, make_runs


def with_runs(role: str, make):
    def apply(inputs):
        inputs[role] = make()

    return apply


def rewrite(role: str, name: str, change):
    """Change the values of a variable in place: `change` gets the array and gives the new one."""

    def apply(inputs):
        values = inputs[role][name]
        values.values[:] = change(values.values.copy())

    return apply


def base(**run):
    settings = synthetic_sparse.SMALL | run
    return with_runs("runs", lambda: make_runs({"main": settings}, map_steps=(0, 100, 300, 900)))


def replace_run(role: str, label: str, **settings):
    """One run of an experiment made again with other settings; the others stay."""

    def apply(inputs):
        old = inputs[role]
        given = {name: old[name].sel(run=label).item() for name in synthetic_sparse.SETTINGS}
        new = make_runs(
            {label: given | settings}, seeds=old.sizes["seed"], map_steps=old.map_step.values.tolist()
        )
        for name in new.data_vars:
            old[name].loc[{"run": label}] = new[name].sel(run=label).reindex_like(old[name].sel(run=label))

    return apply


def swap_first_heads(mass):
    """Every head but the last on the second group where it was on the first."""
    mass[..., :-1, [0, 1]] = mass[..., :-1, [1, 0]]
    return mass


def share_one_group(mass):
    """At the end all heads do what the first does."""
    mass[..., -1, :, :, :] = mass[..., -1, :, :1, :]
    return mass


def second_for_two(mass):
    """Two heads on the second group at the same time: the third does what leaves first."""
    mass[:, :, :, :, 2] = mass[:, :, :, :, 1]
    mass[:, :, :, :, 0] = mass[:, :, :, :, 1]
    return mass


def uneven_at_first(mass):
    """The first head starts with half of its attention on the first group."""
    mass[:, :, 0, :, 0, 0] = 0.5
    return mass


def less_of_run(number: int, share: float):
    """Multiply by `share` all of one run."""

    def change(array):
        array[number] *= share
        return array

    return change


def leave_out_lag(attention):
    """Nobody reads the query's own position: what was there is nowhere."""
    q = np.arange(attention.shape[-2])
    attention[..., q, q + attention.shape[-1] - attention.shape[-2]] = 0.001
    return attention


def reverse_last(array):
    """The last axis, of groups or predictors, turned round."""
    return array[..., ::-1]


def swap_first(array):
    """The first two of the last axis exchanged."""
    return array[..., [1, 0, 2]]


def nearest_first_for_online(KL):
    """Fresh data stay near the shortest context."""
    KL[0, ..., 0] = 0.0
    return KL


REVERSED = (500.0, 270.0, 90.0)
ALIKE = rewrite("runs", "mass", share_one_group)
AT_ONCE = rewrite("runs", "mass", swap_first_heads)
ELSEWHERE = rewrite("runs", "mass", lambda mass: 0.6 * mass)
LOSS_STAYS = rewrite("runs", "loss", lambda loss: loss + 0.15)
KL_STAYS = rewrite("runs", "KL", lambda KL: KL + 0.15)
TURNED = rewrite("runs", "KL", swap_first)
UNREAD = rewrite("runs", "attention", leave_out_lag)
SKIPPED = rewrite("runs", "KL_learned", lambda KL: KL + np.array([0.0, 0.9, 0.0]))
COMPETITION = {"competition-mass", "competition-overlap"}
SPOILED = {
    "fig1": {
        "another order": (base(times=REVERSED), {"order", "acquisition"}),
        "heads that leave at once": (AT_ONCE, {"acquisition", *COMPETITION}),
        "heads that end alike": (ALIKE, {"one-to-one", "final-overlap"}),
        "attention elsewhere": (ELSEWHERE, {"competition-mass", "specialised-mass"}),
        "another plateau": (
            rewrite("runs", "loss", lambda loss: 0.35 + 0.7 * (loss - 0.35)),
            {"first-plateau"},
        ),
        "a loss that stays": (LOSS_STAYS, {"final-excess"}),
        "a distance that stays": (KL_STAYS, {"final-KL"}),
        "the first one farther": (
            rewrite("runs", "KL", lambda KL: KL + np.array([1.0, 0.0, 0.0])),
            {"nearest-to-the-first"},
        ),
    },
    "fig2": {
        "uneven before training": (rewrite("runs", "mass", uneven_at_first), {"uniform-at-first"}),
        "heads that leave at once": (AT_ONCE, {"all-on-first", "one-on-second"}),
        "all heads leave together": (
            rewrite("runs", "mass", second_for_two),
            {"one-on-second", "one-to-one"},
        ),
        "a strong diagonal": (
            with_runs("runs", lambda: make_runs({"main": synthetic_sparse.FULL}, map_steps=(0, 60, 600))),
            {"weak-diagonal"},
        ),
    },
    "fig3": {
        "another order": (TURNED, {"order"}),
        "another order of contexts": (
            rewrite("runs", "KL_learned", swap_first),
            {"context-order", "context-in-turn"},
        ),
        "a context skipped": (SKIPPED, {"context-in-turn"}),
    },
    "fig4": {
        "another order, Xavier": (
            replace_run("scale", "xavier", times=(330.0, 150.0, 60.0)),
            {"order-xavier"},
        ),
        "another order, small": (
            replace_run("scale", "u1e-3", times=(420.0, 230.0, 80.0)),
            {"order-small", "acquisition-small"},
        ),
        "a fast small start": (
            replace_run("scale", "u1e-6", times=(80.0, 110.0, 150.0)),
            {"smaller-slower"},
        ),
        "1e-9 as 1e-6": (
            replace_run("scale", "u1e-9", times=(80.0, 325.0, 480.0)),
            {"rounding-of-the-smallest"},
        ),
        "heads that part": (rewrite("scale", "head_difference", lambda found: found + 1e-12), {"symmetric"}),
        "equal heads learn on": (
            replace_run("scale", "u0", together=True, times=(40.0, 150.0, 300.0)),
            {"symmetric-stalls"},
        ),
        "equal heads look elsewhere": (
            rewrite("scale", "mass", less_of_run(4, 0.5)),
            {"symmetric-pattern"},
        ),
        "three stages without importance": (
            replace_run("importance", "m1", times=(60.0, 120.0, 350.0)),
            {"two-stages-at-m1", "one-then-two-at-m1", "separation"},
        ),
        "two first": (
            replace_run("importance", "m1", times=(60.0, 62.0, 90.0)),
            {"one-then-two-at-m1"},
        ),
        "two stages at 1.3": (
            replace_run("importance", "m1.3", times=(60.0, 150.0, 170.0)),
            {"three-stages-at-m13"},
        ),
        "two stages at 1.5": (
            replace_run("importance", "m1.5", times=(60.0, 160.0, 180.0)),
            {"three-stages-at-m15", "separation"},
        ),
        **{
            f"another order, {label}": (
                replace_run(role, label, times=(380.0, 180.0, 60.0)),
                {f"order-{name}"},
            )
            for role, label, name in (
                ("full_variants", "no_norm", "no-norm"),
                ("full_variants", "no_residual", "no-residual"),
                ("full_variants", "no_feed_forward", "no-feed-forward"),
                ("full_variants", "merged", "merged"),
                ("minimal_variants", "heads5", "five-heads"),
                ("minimal_variants", "no_decay", "no-decay"),
            )
        },
        "decay decides": (
            replace_run("minimal_variants", "no_decay", times=(60.0, 180.0, 300.0)),
            {"decay-changes-nothing"},
        ),
    },
    "fig5": {
        "more data, worse": (
            replace_run("runs", "n4000", times=(60.0, 200.0, NEVER), best=(260, 0.9)),
            {"more-data-better"},
        ),
        "few data suffice": (
            replace_run("runs", "n50"),
            {"more-data-better", "few-data-stop-early", "last-group-few-data", "overfits"},
        ),
        "another order": (replace_run("runs", "online", times=(380.0, 180.0, 60.0)), {"order-fresh"}),
        "a context skipped": (SKIPPED, {"context-in-turn"}),
        "near to short contexts with more data": (
            rewrite("runs", "KL_learned", nearest_first_for_online),
            {"best-context-grows"},
        ),
        "no head on the last group": (
            rewrite("runs", "mass", lambda mass: mass * np.array([1.0, 1.0, 0.5])),
            {"last-group-fresh-data"},
        ),
    },
    "fig8": {
        "another order": (base(times=REVERSED), {"order", "acquisition"}),
        "heads that leave at once": (AT_ONCE, COMPETITION),
        "no compensation": (
            rewrite("runs", "value_alignment", lambda found: found.clip(0)),
            {"compensation-second", "compensation-third"},
        ),
        "little compensation": (
            rewrite("runs", "value_alignment", lambda found: 0.1 * found),
            {"compensation-third"},
        ),
        "heads that end alike": (ALIKE, {"one-to-one"}),
    },
    "fig9": {
        "another order": (base(times=REVERSED), {"acquisition"}),
        "heads that leave at once": (AT_ONCE, COMPETITION),
        "heads that end alike": (ALIKE, {"one-to-one", "final-overlap"}),
        "attention elsewhere": (ELSEWHERE, {"competition-mass", "specialised-mass"}),
    },
    "fig10": {
        "another order": (TURNED, {"order"}),
        "a loss that stays": (LOSS_STAYS, {"final-excess"}),
        "a distance that stays": (KL_STAYS, {"final-KL"}),
    },
    "fig11": {"the nearest first": (rewrite("runs", "mass", reverse_last), {"furthest-first"})},
    **{
        figure: {"another order": (TURNED, {"order"})}
        for figure in ("fig12", "fig13", "fig14", "fig15", "fig17", "fig20")
    },
    "fig16": {
        "even positions": (
            with_runs(
                "runs", lambda: make_runs({"main": {}}, synthetic_sparse.UNEVEN, map_steps=(0, 200, 600))
            ),
            {"checkered"},
        )
    },
    "fig18": {"another order": (TURNED, {"order"}), "a lag that none reads": (UNREAD, {"all-lags-read"})},
    "fig19": {"a lag that none reads": (UNREAD, {"all-lags-read"})},
    "fig21": {
        "a lag that none reads": (UNREAD, {"all-lags-read"}),
        "heads that end alike": (ALIKE, {"one-to-one"}),
    },
}
