package processes

import (
	"net"
	"testing"
	"time"
)

// What this process does shows in what it has used.
func TestUsage(t *testing.T) {
	before, err := Usage()
	if err != nil {
		t.Fatal(err)
	}
	open := Descriptors()
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if now := Descriptors(); now <= open {
		t.Errorf("%d descriptors, %d before a socket was opened", now, open)
	}
	for end := time.Now().Add(20 * time.Millisecond); time.Now().Before(end); {
		conn.WriteTo(make([]byte, 100), conn.LocalAddr())
	}
	after, err := Usage()
	if err != nil {
		t.Fatal(err)
	}
	if after.Processor <= before.Processor || after.Packets <= before.Packets || after.Bytes-before.Bytes < 100*(after.Packets-before.Packets)/2 || after.Resident <= 0 {
		t.Errorf("%+v, then %+v", before, after)
	}
}

func TestLoopback(t *testing.T) {
	const head = "Inter-|   Receive\n face |bytes    packets errs\n"
	if packets, size, err := loopback([]byte(head + "  eth0: 9 9 9\n    lo: 1234      56    0 0\n")); packets != 56 || size != 1234 || err != nil {
		t.Error(packets, size, err)
	}
	for _, text := range []string{"", head, head + "lo: x"} {
		if _, _, err := loopback([]byte(text)); err == nil {
			t.Errorf("%q is read", text)
		}
	}
}
