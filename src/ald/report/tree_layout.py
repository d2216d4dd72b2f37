"""Where the nodes of a tree go: the tidy layout of Reingold and Tilford in the linear time of Buchheim, Juenger and
Leipert (2002).

Nodes of one depth keep a distance of at least 1, parents stand in the middle above their first and last child, equal
subtrees are drawn equally, and the drawing is as narrow as these rules allow. Trees of any depth: nothing recurses.
"""

from __future__ import annotations

from collections.abc import Sequence


def tidy(children: Sequence[Sequence[int]]) -> list[float]:
    """The horizontal place of every node, from 0 on; node 0 is the root, `children` are numbers of nodes.

    >>> tidy([[1, 2], [], []])
    [0.5, 0.0, 1.0]
    """
    layout = _Layout(children)
    for node in reversed(layout.preorder):
        layout.place_children(node)
    return layout.positions()


class _Layout:
    """The state of the algorithm, by its authors' names for it: one entry per node."""

    def __init__(self, children: Sequence[Sequence[int]]) -> None:
        n = len(children)
        self.children = children
        self.parent, self.number = [-1] * n, [0] * n
        self.preorder: list[int] = []
        stack = [0] if n else []
        while stack:
            node = stack.pop()
            self.preorder.append(node)
            for i, child in enumerate(children[node]):
                self.parent[child], self.number[child] = node, i
            stack.extend(reversed(children[node]))
        # A node's place within its siblings, and what its descendants move along with it.
        self.prelim, self.mod, self.middle = [0.0] * n, [0.0] * n, [0.0] * n
        self.shift, self.change = [0.0] * n, [0.0] * n
        self.thread, self.ancestor = [-1] * n, list(range(n))

    def place_children(self, node: int) -> None:
        """Puts the subtrees of a node side by side, from left to right, as close as they get."""
        children = self.children[node]
        if not children:
            return
        default = children[0]
        for i, child in enumerate(children):
            self.prelim[child] = self.prelim[children[i - 1]] + 1.0 if i else self.middle[child]
            self.mod[child] = self.prelim[child] - self.middle[child] if self.children[child] else 0.0
            if i:
                default = self._apportion(child, default)
        self._execute_shifts(node)
        self.middle[node] = (self.prelim[children[0]] + self.prelim[children[-1]]) / 2.0

    def _apportion(self, node: int, default: int) -> int:
        """Moves a subtree right until it clears those to its left, following the contours of both."""
        siblings = self.children[self.parent[node]]
        inner_right = outer_right = node
        inner_left, outer_left = siblings[self.number[node] - 1], siblings[0]
        sum_inner_right = sum_outer_right = self.mod[node]
        sum_inner_left, sum_outer_left = self.mod[inner_left], self.mod[outer_left]
        while True:
            left, right = self._next_right(inner_left), self._next_left(inner_right)
            if left < 0 or right < 0:
                break
            inner_left, inner_right = left, right
            outer_left, outer_right = self._next_left(outer_left), self._next_right(outer_right)
            self.ancestor[outer_right] = node
            gap = self.prelim[inner_left] + sum_inner_left - self.prelim[inner_right] - sum_inner_right + 1.0
            if gap > 0:
                at = self.ancestor[inner_left]
                self._move(at if self.parent[at] == self.parent[node] else default, node, gap)
                sum_inner_right += gap
                sum_outer_right += gap
            sum_inner_left += self.mod[inner_left]
            sum_inner_right += self.mod[inner_right]
            sum_outer_left += self.mod[outer_left]
            sum_outer_right += self.mod[outer_right]
        if self._next_right(inner_left) >= 0 and self._next_right(outer_right) < 0:
            self.thread[outer_right] = self._next_right(inner_left)
            self.mod[outer_right] += sum_inner_left - sum_outer_right
        if self._next_left(inner_right) >= 0 and self._next_left(outer_left) < 0:
            self.thread[outer_left] = self._next_left(inner_right)
            self.mod[outer_left] += sum_inner_right - sum_outer_left
            default = node
        return default

    def _next_left(self, node: int) -> int:
        return self.children[node][0] if self.children[node] else self.thread[node]

    def _next_right(self, node: int) -> int:
        return self.children[node][-1] if self.children[node] else self.thread[node]

    def _move(self, left: int, right: int, gap: float) -> None:
        """Moves the right subtree, and notes that those between share the way evenly."""
        between = self.number[right] - self.number[left]
        self.change[right] -= gap / between
        self.shift[right] += gap
        self.change[left] += gap / between
        self.prelim[right] += gap
        self.mod[right] += gap

    def _execute_shifts(self, node: int) -> None:
        shift = change = 0.0
        for child in reversed(self.children[node]):
            self.prelim[child] += shift
            self.mod[child] += shift
            change += self.change[child]
            shift += self.shift[child] + change

    def positions(self) -> list[float]:
        """Every node's place, with those of its ancestors added."""
        out, moved = [0.0] * len(self.children), [0.0] * len(self.children)
        for node in self.preorder:
            own = self.middle[node] if self.parent[node] < 0 and self.children[node] else self.prelim[node]
            out[node] = own + moved[node]
            for child in self.children[node]:
                moved[child] = moved[node] + self.mod[node]
        least = min(out, default=0.0)
        return [place - least for place in out]
