package comm_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"banyan/internal/job/launcher"
	"banyan/internal/mpi/comm"
)

// exchangesProgram exchanges parts of arguments[0] bytes, in so many rounds as arguments[1] says,
// and says so if any member gets other bytes than were sent to it. The rank arguments[2], if there
// is one, kills itself in the middle.
func exchangesProgram(w *comm.Comm, arguments []int) error {
	m, rounds, dies := arguments[0], arguments[1], arguments[2]
	send, recv := make([]byte, w.Size()*m), make([]byte, w.Size()*m)
	sum := make([]byte, m)
	part := func(from, to, round int) byte { return byte(17*from + 5*to + round) }
	for round := range rounds {
		for to := range w.Size() {
			copy(send[to*m:], bytes.Repeat([]byte{part(w.Rank(), to, round)}, m))
		}
		if w.Rank() == dies && round == rounds/2 {
			if _, err := w.Alltoall(send, recv, 1).Start(); err != nil { // the others read it
				return err
			}
			unix.Kill(os.Getpid(), unix.SIGKILL)
		}
		if err := w.Alltoall(send, recv, 1).Run(); err != nil {
			return err
		}
		for from := range w.Size() {
			if !bytes.Equal(recv[from*m:(from+1)*m], bytes.Repeat([]byte{part(from, w.Rank(), round)}, m)) {
				fmt.Println("other bytes from", from, "in round", round)
			}
		}
		if err := w.Allreduce(send[:m], sum, comm.Op{Combiner: comm.Func(either), Size: 8}).Run(); err != nil {
			return err
		}
		want := byte(0)
		for from := range w.Size() {
			want ^= part(from, 0, round)
		}
		if binary.LittleEndian.Uint64(sum) != uint64(want)*0x0101010101010101 || sum[m-1] != want {
			fmt.Println("another sum in round", round)
		}
	}
	fmt.Println("through")
	return nil
}

// Exchanges of a size at which data is offered bring what was sent. A member that dies while others
// read its memory ends the job, and no member gets other bytes before.
func TestExchanges(t *testing.T) {
	const m, rounds = 64 << 10, 20
	out, errs, report := processes(t, 3, false, launcher.TransportSHM, "exchanges", m, rounds, -1)
	if report.ExitCode != 0 || out != strings.Repeat("through\n", 3) {
		t.Errorf("exit %d: %s%.1000s", report.ExitCode, out, errs)
	}
	for dies := range 2 {
		out, errs, report := processes(t, 3, false, launcher.TransportSHM, "exchanges", m, rounds, dies)
		if report.ExitCode == 0 || out != "" {
			t.Errorf("rank %d dies: exit %d: %s%.1000s", dies, report.ExitCode, out, errs)
		}
	}
}
