package remote

import "testing"

// A process that asks several questions at once has each answer counted for its own question. An
// abort has none.
func TestRelayCountsAnswers(t *testing.T) {
	r := newRelay(nil)
	for _, question := range []string{"cmd=put key=a value=b\n", "cmd=abort exitcode=1\n", "cmd=barrier_in\n", "cmd=get key=a\n"} {
		r.pending = append(r.pending, []byte(question))
	}
	for i, want := range []struct{ puts, barriers, pending int }{{1, 0, 3}, {1, 1, 1}, {1, 1, 0}, {1, 1, 0}} {
		if r.answered(); len(r.puts) != want.puts || r.barriers != want.barriers || len(r.pending) != want.pending {
			t.Errorf("after %d answers: %d puts, %d barriers, %d questions", i+1, len(r.puts), r.barriers, len(r.pending))
		}
	}
}
