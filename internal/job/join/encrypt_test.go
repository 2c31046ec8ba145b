package join_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"banyan/internal/job/env"
	"banyan/internal/job/pmi/pmitest"
)

// A job whose processes differ in what they encrypt doesn't start, and says in one line what to
// set.
func TestEncryptionDiffers(t *testing.T) {
	t.Parallel()
	members := pmitest.Start(t, 2, func(i int) *exec.Cmd {
		cmd := exec.Command("/proc/self/exe")
		cmd.Env = append(os.Environ(), "JOB_TEST_PROGRAM=program", env.Entry(env.Encrypt, []string{env.EncryptNone, env.EncryptHosts}[i]))
		return cmd
	})
	m := members[1]
	if code := m.Await(t, 20*time.Second); code == 0 {
		t.Error("it ends with 0")
	}
	want := "BANYAN_ENCRYPT differs: process 0 of the job goes by none, and process 1 by hosts; it must be the same for all"
	if text := m.Stderr.String(); strings.Count(text, "\n") != 1 || !strings.Contains(text, want) {
		t.Errorf("it says %q", text)
	}
}
