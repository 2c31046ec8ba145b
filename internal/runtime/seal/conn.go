package seal

import (
	"io"
	"net"
	"sync"
)

// Conn is a connection whose data are sealed. One goroutine may read while another one writes. An
// error other than a timeout of Read is final.
type Conn struct {
	net.Conn

	writing sync.Mutex
	out     *Sealer
	sealed  []byte
	broken  error // of writing

	in     *Opener
	record []byte // how much of the next record has come
	opened []byte // the data of the last one
	unread []byte // the end of opened
}

// NewConn seals a connection from here on.
func NewConn(conn net.Conn, keys Keys) *Conn {
	return &Conn{Conn: conn, out: NewSealer(keys.Out), in: NewOpener(keys.In)}
}

// Write implements net.Conn. A record that has left in part can't be repeated, so that any error is
// final.
func (c *Conn) Write(b []byte) (n int, err error) {
	c.writing.Lock()
	defer c.writing.Unlock()
	for len(b) > 0 && c.broken == nil {
		k := min(len(b), MaxData)
		c.sealed = c.out.Seal(c.sealed[:0], b[:k])
		if _, c.broken = c.Conn.Write(c.sealed); c.broken == nil {
			n, b = n+k, b[k:]
		}
	}
	return n, c.broken
}

// Read implements net.Conn.
func (c *Conn) Read(b []byte) (int, error) {
	if len(b) == 0 {
		return 0, nil
	}
	for len(c.unread) == 0 {
		if err := c.next(); err != nil {
			return 0, err
		}
	}
	n := copy(b, c.unread)
	c.unread = c.unread[n:]
	return n, nil
}

// next reads and opens the next record.
func (c *Conn) next() error {
	if err := c.fetch(headSize); err != nil {
		return err
	}
	size, err := Size(c.record)
	if err != nil {
		return err
	}
	if err := c.fetch(size); err != nil {
		return err
	}
	c.opened, err = c.in.Open(c.opened[:0], c.record)
	c.record, c.unread = c.record[:0], c.opened
	return err
}

// fetch reads until so many bytes of the record have come. After a timeout it may be called again.
func (c *Conn) fetch(size int) error {
	for len(c.record) < size {
		if c.record == nil {
			c.record = make([]byte, 0, MaxRecord)
		}
		k, err := c.Conn.Read(c.record[len(c.record):size])
		c.record = c.record[:len(c.record)+k]
		if err == io.EOF && len(c.record) > 0 {
			err = io.ErrUnexpectedEOF
		}
		if err != nil && len(c.record) < size {
			return err
		}
	}
	return nil
}
