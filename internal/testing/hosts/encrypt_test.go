package hosts_test

import (
	"bytes"
	"sync/atomic"
	"testing"

	"banyan/internal/job/env"
	"banyan/internal/runtime/wire"
)

// heartbeatMark begins each heartbeat: with that and 8 bytes it is no accident.
var heartbeatMark = func() []byte {
	b := make([]byte, wire.HeaderSize)
	wire.EncodeHeader(b, &wire.Header{Kind: wire.KindHeartbeat})
	return b[:8]
}()

// These tests are the evidence for docs/guide/security.md, "On the way between hosts".

// Somebody who sees all packets between the hosts of a job reads what its processes and spares say
// to each other, unless the job encrypts. Deaths and replacements are the same.
func TestEavesdropping(t *testing.T) {
	t.Parallel()
	for _, encrypt := range []string{env.EncryptNone, env.EncryptHosts} {
		t.Run(encrypt, func(t *testing.T) {
			t.Parallel()
			n := network(t, 3, 1)
			var control, frames atomic.Int64
			n.Tap(func(_, _ int, packet []byte) {
				if bytes.Contains(packet, []byte(`{"type":`)) { // spares and processes
					control.Add(1)
				}
				if bytes.Contains(packet, heartbeatMark) {
					frames.Add(1)
				}
			})
			s := spared(250)
			s.encrypt = encrypt
			r := start(t, n, s)
			r.members[1].kill()
			r.takesPart(5)
			r.members[3].kill() // the donor of the replacement's state
			r.takesPart(4)
			r.expectResults([]int{0, 2})
			r.expectSlots(1, 1)
			t.Logf("%d packets with messages of the spares and %d with heartbeats can be read", control.Load(), frames.Load())
			if readable := encrypt == env.EncryptNone; (control.Load() > 0) != readable || (frames.Load() > 0) != readable {
				t.Errorf("%d messages of the spares and %d heartbeats can be read", control.Load(), frames.Load())
			}
		})
	}
}
