package pmi

import "testing"

func TestProgram(t *testing.T) {
	for divided, want := range map[bool][]int{false: {0, 0}, true: {0, 7}} {
		s := NewServer(2, "job", nil)
		if divided {
			s.SetPrograms(func(rank int) int { return 7 * rank })
		}
		for rank := range 2 {
			got := -1
			ask := dial(t, s, rank, 2).Batch()
			ask.Program(&got)
			if err := ask.Ask(); err != nil || got != want[rank] {
				t.Errorf("rank %d: %d, %v", rank, got, err)
			}
		}
	}
}
