"""Guarantees of the convolutional form of rank-one heads (figure 2):

- over tokens, convolution on the cubic feature and beta^T A x_q give one prediction, to rounding
- the convolution is SciPy's correlation with the key, every D-th output kept
- the answers to unit features are A = sum_i v_i k_i q_i^T
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy.signal import correlate

from onset.papers.linattn.convolution import attend, convolve_heads, form_feature, respond


@pytest.fixture(params=[1, 3, 5])
def heads(request):
    generator = np.random.default_rng(request.param)
    D, H = request.param, 4
    return generator, generator.standard_normal(H), *generator.standard_normal((2, H, D))


def test_attention_is_the_network(heads):
    generator, v, k, q = heads
    D, N = k.shape[-1], 7
    x, query = generator.standard_normal((20, N, D)), generator.standard_normal((20, D))
    y = np.einsum("snd,sd->sn", x, generator.standard_normal((20, D)))
    beta = np.einsum("sn,snd->sd", y, x) / N
    network = convolve_heads(form_feature(beta, query), v, k, q)
    np.testing.assert_allclose(network, attend(x, y, query, v, k, q), rtol=1e-11, atol=1e-13)
    A = np.einsum("h,hi,hj->ij", v, k, q)
    np.testing.assert_allclose(network, np.einsum("si,ij,sj->s", beta, A, query), rtol=1e-11, atol=1e-13)


def test_stride_is_D(heads):
    generator, v, k, q = heads
    D = k.shape[-1]
    z = generator.standard_normal(D * D)
    expected = sum(vi * qi @ correlate(z, ki, mode="valid")[::D] for vi, ki, qi in zip(v, k, q, strict=True))
    np.testing.assert_allclose(convolve_heads(z, v, k, q), expected, rtol=1e-12)


def test_feature_blocks():
    beta, query = np.array([1.0, 2.0]), np.array([3.0, 5.0])
    np.testing.assert_array_equal(form_feature(beta, query), [3, 6, 5, 10])


def test_answers_are_the_map(heads):
    _, v, k, q = heads
    np.testing.assert_allclose(respond(v, k, q), np.einsum("h,hi,hj->ij", v, k, q), rtol=1e-12)
