"""Search trees for reports agree with the forest."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

import ald
from ald import Audit
from ald.groups.rules import decode
from ald.report.trees import tree_of
from tests.tables import decisions, people


@pytest.fixture(scope="module", params=["outcome", "odds"])
def audit(request: pytest.FixtureRequest) -> Audit:
    if request.param == "outcome":
        return ald.audit(people(2000), outcome="y", search=ald.Search("leaves", trees=4))
    return ald.audit(
        decisions(3000), prediction="predicted", truth="true", notion="equalized odds", search=ald.Search(trees=4)
    )


def test_nodes(audit: Audit) -> None:
    """Nodes have the people of the forest's nodes, and psi against the rest of the tree's sample."""
    for number in range(audit.forest.n_trees):
        tree = tree_of(audit.forest, number, audit.notion)
        source = audit.forest.nodes(number)
        assert [node.n for node in tree.nodes] == [sum(node.counts) for node in source]
        assert [node.id for node in tree.nodes] == [node.id for node in source]
        assert tree.nodes[0].psi is None
        for node, given in zip(tree.nodes, source, strict=True):
            assert [child + 1 for child in node.children] == [n for n in (given.left, given.right) if n]
            assert node.parent == given.parent - 1
            if node.children:
                assert sum(tree.nodes[child].n for child in node.children) == node.n
                assert node.below == sum(tree.nodes[child].below + 1 for child in node.children)
                assert all(tree.nodes[child].depth == node.depth + 1 for child in node.children)
                assert all(tree.nodes[child].branch for child in node.children)
        assert sum(not node.children for node in tree.nodes) == sum(node.is_leaf for node in source)


def test_psi_of_a_node() -> None:
    """psi of a node is its rate minus that of the rest of the sample."""
    audit = ald.audit(people(2000), outcome="y", search=ald.Search(trees=2))
    tree = tree_of(audit.forest, 0, audit.notion)
    counts = audit.forest.counts[audit.forest.tree == 0]
    for i, node in enumerate(tree.nodes[1:], 1):
        rest = counts[0] - counts[i]
        assert node.psi == pytest.approx(counts[i][1] / counts[i].sum() - rest[1] / rest.sum())
        assert node.rates[0] == pytest.approx(counts[i][1] / counts[i].sum())


def test_nodes_of_reports_show_the_people_who_tested() -> None:
    """In reports a node has the people of D2 who satisfy its conditions, and their rates, by a plain mask."""
    columns = people(3000)
    half = np.random.default_rng(7).permutation(np.repeat([0, 1], 1500))
    audit = ald.audit(columns | {"half": half.tolist()}, outcome="y", search=ald.Search(trees=3), split="half")
    assert audit.groups
    again = Audit.from_json(audit.to_json())
    d2 = {name: np.asarray(values)[half == 1] for name, values in columns.items()}
    y = d2["y"] == 1
    criteria = audit.forest.criteria([attribute.size for attribute in audit.forest.attributes])
    for tree in {card.tree.number: card.tree for card in audit.report().cards}.values():
        assert not tree.on_search
        first = int((audit.forest.tree < tree.number).sum())
        assert len(tree.nodes) > 3
        for i, node in enumerate(tree.nodes):
            inside = decode(criteria[first + i], audit.forest.attributes).mask(d2)
            assert node.n == inside.sum()
            assert node.rates[0] == pytest.approx(y[inside].mean())
            if i:
                assert node.psi == pytest.approx(y[inside].mean() - y[~inside].mean())
        shown = tree_of(again.forest, tree.number, again.notion, again.details.people_of_tree(tree.number))
        assert shown == tree


def test_trees_without_counts_of_the_tests_say_so(audit: Audit) -> None:
    """A tree that was not counted among those who tested says that its numbers are of the search."""
    assert "on whom the tree was grown" in tree_of(audit.forest, 0, audit.notion).whose
    number = audit.groups[0].tree
    assert number is not None
    counted = tree_of(audit.forest, number, audit.notion, audit.details.people_of_tree(number))
    assert "kept for the tests" in counted.whose


def test_paths(audit: Audit) -> None:
    """The path to a node leads from the root to it, parent by parent."""
    tree = tree_of(audit.forest, 0, audit.notion)
    for node in tree.nodes:
        path = tree.path(node.id)
        assert path[0] == 0
        assert tree.nodes[path[-1]].id == node.id
        assert all(tree.nodes[b].parent == a for a, b in pairwise(path))


def test_branches_say_what_the_split_does() -> None:
    """The words of the last branch are those of the criterion, for leaves one split below the root."""
    audit = ald.audit(people(2000), outcome="y", search=ald.Search(trees=4))
    paths = audit.forest.criteria([attribute.size for attribute in audit.forest.attributes])
    for number in range(4):
        tree = tree_of(audit.forest, number, audit.notion)
        base = int((audit.forest.tree < number).sum())
        for child in tree.nodes[0].children:
            words = str(decode(paths[base + child], audit.forest.attributes))
            branch = tree.nodes[child].branch
            assert words.replace("<=", "≤").endswith(branch) or branch.split(", ")[0] in words


def test_trees_from_a_document(audit: Audit) -> None:
    """The trees of a document say the same."""
    again = Audit.from_json(audit.to_json())
    for number in range(audit.forest.n_trees):
        assert tree_of(again.forest, number, again.notion) == tree_of(audit.forest, number, audit.notion)


def test_some_trees_only(audit: Audit) -> None:
    """A forest reduced to some trees has these trees, under their numbers, and nothing else."""
    small = audit.forest.only({1, 3})
    assert set(small.tree.tolist()) == {1, 3}
    for number in (1, 3):
        kept, given = (
            [
                (node.id, node.parent, node.counts, node.left, node.right, node.left_levels)
                for node in forest.nodes(number)
            ]
            for forest in (small, audit.forest)
        )
        assert kept == given
    assert audit.forest.only(set()).n_nodes == 0
