package topology_test

import (
	"fmt"

	"banyan/internal/topology"
)

// Figure 3 of the paper: a binary tree of 7 processes, numbered in order and interleaved. If 4
// is dead in the in-order tree, its children 5 and 6 are a gap; in the interleaved one the
// children of 2, 4 and 6, are apart.
func ExampleKAry_figure3() {
	for _, n := range []topology.Numbering{topology.InOrder, topology.Interleaved} {
		tree, err := topology.KAry(7, 2, n)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(n)
		show(&tree)
	}
	// Output:
	// inorder
	// 0 → [1 4]
	// 1 → [2 3]
	// 4 → [5 6]
	// interleaved
	// 0 → [1 2]
	// 1 → [3 5]
	// 2 → [4 6]
}

// Figure 4: a binomial tree of 8 processes. Children are listed in the order of the sends to
// them: the largest subtree first.
func ExampleBinomial_figure4() {
	for _, n := range []topology.Numbering{topology.InOrder, topology.Interleaved} {
		tree, err := topology.Binomial(8, n)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(n)
		show(&tree)
	}
	// Output:
	// inorder
	// 0 → [4 2 1]
	// 2 → [3]
	// 4 → [6 5]
	// 6 → [7]
	// interleaved
	// 0 → [1 2 4]
	// 1 → [3 5]
	// 2 → [6]
	// 3 → [7]
}

// Figure 5: the timeline of a Lamé tree of order 3 with 9 processes, where L =
// o = 1: a message takes 3 steps.
func ExampleLame_figure5() {
	tree, err := topology.Lame(9, 3, topology.Interleaved)
	if err != nil {
		fmt.Println(err)
		return
	}
	ready := make([]int, tree.Procs())
	for p := range tree.Procs() {
		for i, child := range tree.AppendChildren(nil, p) {
			sent := ready[p] + i
			ready[child] = sent + 3
			fmt.Printf("at %d, %d sends to %d\n", sent, p, child)
		}
	}
	// Output:
	// at 0, 0 sends to 1
	// at 1, 0 sends to 2
	// at 2, 0 sends to 3
	// at 3, 0 sends to 4
	// at 4, 0 sends to 6
	// at 3, 1 sends to 5
	// at 4, 1 sends to 7
	// at 4, 2 sends to 8
}

func show(tree *topology.Tree) {
	for p := range tree.Procs() {
		if children := tree.AppendChildren(nil, p); len(children) > 0 {
			fmt.Println(p, "→", children)
		}
	}
}
