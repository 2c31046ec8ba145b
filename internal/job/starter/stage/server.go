package stage

import (
	"bufio"
	"context"
	"encoding/binary"
	"io"
	"log/slog"
	"net"
	"os"
	"strings"
	"time"

	"banyan/internal/job/agent/secure"
	"banyan/internal/runtime/handshake"
)

// idleLimit is how long a connection may rest.
const idleLimit = 15 * time.Second

// absent is the length of a file that a server doesn't have.
const absent = 1<<64 - 1

// Server serves files. Its port is open until Close.
type Server struct {
	socket net.Listener
	cancel context.CancelFunc
	served chan struct{}
	files  map[string]string // paths by digests
	key    secure.Key
}

// Serve opens a port for those that hold the key. files are paths by digests.
func Serve(key secure.Key, files map[string]string) (*Server, error) {
	socket, err := net.Listen("tcp", ":0")
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	s := &Server{socket: socket, cancel: cancel, served: make(chan struct{}), files: files, key: key}
	go func() {
		defer close(s.served)
		var gate handshake.Gate
		gate.Serve(ctx, socket, func(conn net.Conn, proven func()) { s.greet(ctx, conn, proven) }, func(err error) {
			slog.Debug("files' listener", "err", err)
		})
	}()
	return s, nil
}

// Port is the port's number.
func (s *Server) Port() int { return s.socket.Addr().(*net.TCPAddr).Port }

// Close closes the port and all connections.
func (s *Server) Close() {
	s.cancel()
	s.socket.Close()
	<-s.served
}

// greet serves a connection. A request is a line with a digest; the answer is the length of the
// file, 8 bytes, and the file.
func (s *Server) greet(ctx context.Context, conn net.Conn, proven func()) {
	limited, cancel := context.WithTimeout(ctx, idleLimit)
	defer cancel()
	c, _, err := secure.Accept(limited, conn, s.key)
	if err != nil {
		return
	}
	defer c.Close()
	proven()
	requests := bufio.NewReaderSize(c, 256)
	for {
		c.SetDeadline(time.Now().Add(idleLimit))
		line, err := requests.ReadSlice('\n')
		if err != nil || s.send(c, strings.TrimSpace(string(line))) != nil {
			return
		}
	}
}

// send sends a file.
func (s *Server) send(c net.Conn, sum string) error {
	path, ok := s.files[sum]
	if !ok {
		return binary.Write(c, binary.BigEndian, uint64(absent))
	}
	file, err := os.Open(path)
	if err != nil {
		return binary.Write(c, binary.BigEndian, uint64(absent))
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return err
	}
	if err := binary.Write(c, binary.BigEndian, uint64(info.Size())); err != nil {
		return err
	}
	// If the file has become shorter the receiver sees it, by the connection's end.
	for left := info.Size(); left > 0; {
		c.SetDeadline(time.Now().Add(idleLimit))
		n, err := io.CopyN(c, file, min(left, 1<<20))
		if left -= n; err != nil {
			return err
		}
	}
	return nil
}
