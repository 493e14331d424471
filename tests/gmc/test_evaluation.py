"""Guarantees of the evaluation on test sequences:

- the loss is the mean square over sequences and entries;
- heads with known attention get the scores that they deserve, layer by layer and head by head;
- the size of the parts in which sequences are evaluated changes nothing;
- the curve sequences are those that the Dataset marks.
"""

import numpy as np
import pytest
import torch
from tests.gmc.small_training import draw_test

from onset.papers.gmc import evaluation
from onset.papers.gmc.evaluation import evaluate, read_test, score_matching


class Scripted(torch.nn.Module):
    """Predicts given numbers with a previous-token head, two uniform ones and one that finds successors."""

    def __init__(self, test, error=0.0):
        super().__init__()
        self.test, self.error = test, error

    def observe(self, x):
        n, L, _ = x.shape
        causal = torch.ones(L, L).tril()
        uniform = (causal / causal.sum(1, keepdim=True)).expand(n, L, L)
        previous = torch.eye(L).roll(-1, 1)
        previous[0] = torch.eye(L)[0]
        same = (x[:, :, None] == x[:, None]).all(-1)
        earlier = same & torch.ones(L, L).tril(-1).bool()  # where this token was before
        successor = earlier.float().roll(1, 2)
        found = successor.sum(-1, keepdim=True) > 0
        induction = torch.where(found, successor, torch.eye(L)[0])
        if self.test.curve.tokens.shape[1] == L:  # find the match by its number
            numbers = [self._number(sequence) for sequence in x]
            induction = induction.clone()
            induction[:, -1] = torch.eye(L)[self.test.all.match[numbers] + 1]
            prediction = torch.from_numpy(self.test.all.targets[numbers]) + self.error
        else:
            prediction = torch.zeros(n, 6)
        layers = [torch.stack([previous.expand(n, L, L), uniform], 1), torch.stack([uniform, induction], 1)]
        return prediction, torch.stack(layers, 1)

    def _number(self, sequence):
        return int((self.test.all.tokens == sequence).flatten(1).all(1).nonzero()[0])


@pytest.mark.parametrize("part", [128, 7, 1])
def test_known_heads_score_what_they_deserve(monkeypatch, part):
    monkeypatch.setattr(evaluation, "PART", part)
    test = read_test(draw_test(), "cpu")
    found = evaluate(Scripted(test, error=0.5), test)
    T, K = 4, 4
    harmonic = np.cumsum(1 / np.arange(1, 2 * K + 1))
    assert found["test_loss"] == pytest.approx(0.25)
    random = {"PTH": (harmonic[T] - 1) / T, "IH_MC": 1 / (T + 1)}
    np.testing.assert_allclose(found["PTH"][0], [1, random["PTH"]], rtol=1e-6)
    last = (draw_test()["match"][:40] == T - 2).mean()  # its successor is the token before the query
    np.testing.assert_allclose(found["IH_MC"], [[last, random["IH_MC"]], [random["IH_MC"], 1]], rtol=1e-6)
    repeat = (harmonic[2 * K - 1] - harmonic[K - 1]) / K
    np.testing.assert_allclose(found["IH_Repeat"], [[0, repeat], [repeat, 1]], rtol=1e-6)
    np.testing.assert_allclose(found["IH_Repeat_control"], [[0, repeat], [repeat, 0]], rtol=1e-6)


def test_loss_is_a_mean_over_sequences_and_entries():
    test = read_test(draw_test(), "cpu")

    class Zero(Scripted):
        def observe(self, x):
            prediction, maps = super().observe(x)
            return 0 * prediction, maps

    targets = draw_test()["targets"].values.astype(np.float64)
    assert score_matching(Zero(test), test.all)["loss"] == pytest.approx(np.square(targets).mean(), rel=1e-12)
    curve = draw_test()["curve"].values
    assert score_matching(Zero(test), test.curve)["loss"] == pytest.approx(np.square(targets[curve]).mean())


def test_the_curve_sequences_are_those_marked():
    dataset = draw_test()
    test = read_test(dataset.assign(curve=dataset["sample"] % 3 == 1), "cpu")
    np.testing.assert_array_equal(test.curve.tokens, dataset["tokens"][1::3])
    np.testing.assert_array_equal(test.curve.match, dataset["match"][1::3])
    assert len(test.all.tokens) == dataset.sizes["sample"]
