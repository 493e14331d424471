"""Changes from which controls are made: each gives a function of a role and all inputs.

None touches the Datasets that it is given.  Attributes, coordinates and missing values stay.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import TYPE_CHECKING

import numpy as np

from onset.claims.control import Change, Changed

if TYPE_CHECKING:
    import xarray as xr

Values = Callable[["xr.DataArray"], "xr.DataArray"]


def hold_first(*dims: str, only: Collection[str] | None = None, but: Collection[str] = ()) -> Change:
    """Every record along `dims` becomes the first: nothing was learned.

    A record that is missing stays so.  only, but   roles that alone, or that never, are changed.
    """

    def change(role: str, inputs: Mapping[str, xr.Dataset]) -> xr.Dataset:
        dataset = inputs[role]
        if role in but or (only is not None and role not in only):
            return dataset
        found = dataset.copy()
        for name, variable in dataset.data_vars.items():
            held = [dim for dim in dims if dim in variable.dims]
            if held:
                found[name] = _hold(variable, held)
        return found

    return change


def _hold(variable: xr.DataArray, dims: list[str]) -> xr.DataArray:
    values = variable.values
    for dim in dims:
        axis = variable.dims.index(dim)
        first = np.take(values, [0], axis=axis)
        if values.dtype.kind == "f":
            values = np.where(np.isnan(values), values, first)
        else:
            values = np.broadcast_to(first, values.shape)
    return variable.copy(data=np.array(values, dtype=variable.dtype))


def replace_variables(role: str, **new: Values) -> Change:
    """Variables of a role's Dataset replaced by a function of themselves.

    One that the Dataset does not have is passed over: scales differ in what they record.
    """

    def change(given: str, inputs: Mapping[str, xr.Dataset]) -> xr.Dataset:
        dataset = inputs[given]
        if given != role:
            return dataset
        present = {name: new[name] for name in new if name in dataset.variables}
        kept = {name: dataset[name].copy() for name in present}
        return dataset.assign({name: with_values(kept[name], present[name](kept[name])) for name in present})

    return change


def with_values(variable: xr.DataArray, new: xr.DataArray) -> xr.DataArray:
    """`variable` with the values of `new`, repeated along dimensions that only `variable` has."""
    values = new.variable.set_dims(dict(variable.sizes)).transpose(*variable.dims).values
    return variable.copy(data=np.array(values, dtype=variable.dtype))


def scale_variables(role: str, **factors: float) -> Change:
    """Variables of a role's Dataset times a number: a formula with another constant, or sign."""
    return replace_variables(role, **{name: _times(factor) for name, factor in factors.items()})


def _times(factor: float) -> Values:
    return lambda variable: variable * factor


def reverse_along(dim: str, role: str, *names: str) -> Change:
    """Variables in the opposite order along `dim`, coordinates where they were."""
    return replace_variables(role, **dict.fromkeys(names, _reversed(dim)))


def _reversed(dim: str) -> Values:
    return lambda variable: variable.copy(data=np.flip(variable.values, variable.dims.index(dim)))


def swap_roles(**pairs: str) -> Change:
    """Each role gets the Dataset of another: `swap_roles(slow="fast", fast="slow")`."""
    return lambda role, inputs: inputs[pairs.get(role, role)]


def chain(*changes: Change) -> Change:
    """Several changes, one after the other."""

    def change(role: str, inputs: Mapping[str, xr.Dataset]) -> xr.Dataset:
        for one in changes:
            inputs = Changed(inputs, one)
        return inputs[role]

    return change
