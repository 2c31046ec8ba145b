package seal

import (
	"bytes"
	"crypto/rand"
	"errors"
	"io"
	"net"
	"os"
	"testing"
	"time"
)

// pair returns the two ends of a sealed connection, and one's end below the seal.
func pair(t *testing.T) (a, b *Conn, below net.Conn) {
	x, y := net.Pipe()
	t.Cleanup(func() { x.Close(); y.Close() })
	keys := Keys{newSecret(), newSecret()}
	return NewConn(x, keys), NewConn(y, Keys{keys.In, keys.Out}), x
}

func TestConn(t *testing.T) {
	a, b, _ := pair(t)
	data := make([]byte, 100_000)
	rand.Read(data)
	for _, c := range [][2]*Conn{{a, b}, {b, a}} {
		go func() {
			for at := 0; at < len(data); at += 25_000 {
				c[0].Write(data[at : at+25_000])
			}
		}()
		got := make([]byte, len(data))
		if _, err := io.ReadFull(c[1], got); err != nil || !bytes.Equal(got, data) {
			t.Fatal(err)
		}
	}
}

// A read that comes to its deadline within a record loses nothing.
func TestConnDeadline(t *testing.T) {
	a, b, below := pair(t)
	record := a.out.Seal(nil, []byte("late"))
	sent := make(chan struct{})
	go func() {
		below.Write(record[:5])
		close(sent)
	}()
	got := make([]byte, 4)
	b.SetReadDeadline(time.Now().Add(10 * time.Millisecond))
	if _, err := b.Read(got); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Fatal(err)
	}
	b.SetReadDeadline(time.Time{})
	go func() {
		<-sent
		below.Write(record[5:])
	}()
	if _, err := io.ReadFull(b, got); err != nil || string(got) != "late" {
		t.Errorf("%q, %v", got, err)
	}
}

// What nobody has sealed isn't read, and an end within a record is no end of the stream.
func TestConnForged(t *testing.T) {
	_, b, below := pair(t)
	go below.Write(append([]byte{4, 0}, "in clear, as long as a record"...))
	if n, err := b.Read(make([]byte, 10)); n > 0 || !errors.Is(err, ErrForged) {
		t.Errorf("%d bytes, %v", n, err)
	}
	a, b, below := pair(t)
	go func() {
		below.Write(a.out.Seal(nil, []byte("cut short"))[:10])
		below.Close()
	}()
	if n, err := b.Read(make([]byte, 10)); n > 0 || !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("%d bytes, %v", n, err)
	}
}

// A write that failed in the middle of a record ends the stream: the record can't be repeated.
func TestConnBrokenWrite(t *testing.T) {
	a, _, _ := pair(t)
	a.SetWriteDeadline(time.Now().Add(-time.Second))
	if _, err := a.Write([]byte("lost")); err == nil {
		t.Fatal("nobody reads, and it was written")
	}
	a.SetWriteDeadline(time.Time{})
	if n, err := a.Write([]byte("more")); n > 0 || err == nil {
		t.Errorf("%d bytes, %v", n, err)
	}
}
