package pmi

import "testing"

// A process that no launcher has started may use the client that FromEnv returns.
func TestNoLauncher(t *testing.T) {
	c, err := FromEnv(false)
	if c != nil || err != nil {
		t.Skip("this test runs under a launcher")
	}
	if c.Rank() != 0 || c.Size() != 0 {
		t.Errorf("process %d of %d", c.Rank(), c.Size())
	}
	if err := c.Abort(1, "for a reason"); err != nil {
		t.Error(err)
	}
	if err := c.Finalize(); err != nil {
		t.Error(err)
	}
}
