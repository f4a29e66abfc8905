"""Random forests as plain arrays, so that they are read from a data file without pickle or scikit-learn."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

_ROWS = 2048  # of the forest at a time: a row and a tree take some 40 bytes while they are descended
_LEAF = -1


@dataclass(frozen=True)
class Forest:
    """Trees, all nodes one after another."""

    roots: NDArray[np.int32]  # [T] the first node of each tree
    feature: NDArray[np.int16]  # [M] which feature a node asks for; -1 at a leaf
    threshold: NDArray[np.float32]  # [M] a row goes left where its feature is at most this
    children: NDArray[np.int32]  # [M, 2] the nodes to the left and right
    share: NDArray[np.float16]  # [M] at a leaf, the weight of true examples in it, 0-1

    def probabilities(self, rows: NDArray[np.float32]) -> NDArray[np.float64]:
        """Return [N], the mean share of the leaves in which N rows of features end."""
        parts = [self._mean(rows[start : start + _ROWS]) for start in range(0, len(rows), _ROWS)]
        return np.concatenate(parts) if parts else np.zeros(0)

    def _mean(self, rows: NDArray[np.float32]) -> NDArray[np.float64]:
        nodes = np.tile(self.roots, len(rows))
        owners = np.repeat(np.arange(len(rows)), len(self.roots))
        going = np.arange(len(nodes))
        while len(going):
            at = nodes[going]
            inner = self.feature[at] != _LEAF
            going, at = going[inner], at[inner]
            right = rows[owners[going], self.feature[at]] > self.threshold[at]
            nodes[going] = self.children[at, right.astype(np.intp)]
        leaves = self.share[nodes].astype(np.float64)
        means: NDArray[np.float64] = leaves.reshape(len(rows), len(self.roots)).mean(axis=1)
        return means

    @classmethod
    def of(cls, arrays: Mapping[str, NDArray[Any]]) -> Self:
        """Return the forest whose arrays have these names, such as those of an NPZ file that also has others."""
        return cls(**{name: arrays[name] for name in cls.__dataclass_fields__})

    @classmethod
    def fit(
        cls, rows: NDArray[np.float32], true: NDArray[np.bool_], weights: NDArray[np.float64], trees: int, seed: int
    ) -> Self:
        """Learn a random forest (Breiman 2001) with scikit-learn. `rows`: [N, F] features; `true`: [N] the
        labels; `weights`: [N] of each row; `trees`: how many; `seed`: of the trees' choices."""
        from sklearn.ensemble import RandomForestClassifier  # here, because it takes a second that readers need not

        model = RandomForestClassifier(
            trees, min_samples_leaf=6, max_leaf_nodes=400, max_features=0.35, random_state=seed, n_jobs=1
        )
        model.fit(rows, true, sample_weight=weights)
        results = [estimator.tree_ for estimator in model.estimators_]
        starts = np.cumsum([0, *(tree.node_count for tree in results)])
        children = [
            np.stack([tree.children_left, tree.children_right], axis=1) + start
            for tree, start in zip(results, starts, strict=False)
        ]
        place = list(model.classes_).index(True)
        return cls(
            roots=starts[:-1].astype(np.int32),
            feature=np.concatenate([np.maximum(tree.feature, _LEAF) for tree in results]).astype(np.int16),
            threshold=np.concatenate([tree.threshold for tree in results]).astype(np.float32),
            children=np.concatenate(children).astype(np.int32),
            share=np.concatenate([tree.value[:, 0, place] for tree in results]).astype(np.float16),
        )
