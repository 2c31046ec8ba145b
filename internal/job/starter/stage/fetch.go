package stage

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"time"

	"banyan/internal/job/agent/secure"
)

// dialLimit bounds the wait for one address.
const dialLimit = 5 * time.Second

// Source is where files are fetched from.
type Source struct {
	Addresses []string // of servers, as HOST:PORT, in the order in which they are tried
	Key       secure.Key
	Number    int // of the agent that fetches
}

// Fetch fetches the file of a digest, as a new file of a mode.
func (s *Source) Fetch(ctx context.Context, sum, path string, mode os.FileMode) error {
	var said []string
	for _, address := range s.Addresses {
		err := s.from(ctx, address, sum, path, mode)
		if err == nil {
			return nil
		}
		said = append(said, fmt.Sprintf("%s: %v", address, err))
		if ctx.Err() != nil {
			break
		}
	}
	return errors.New(strings.Join(said, "; "))
}

func (s *Source) from(ctx context.Context, address, sum, path string, mode os.FileMode) (err error) {
	limited, cancel := context.WithTimeout(ctx, dialLimit)
	defer cancel()
	var d net.Dialer
	conn, err := d.DialContext(limited, "tcp", address)
	if err != nil {
		return err
	}
	c, err := secure.Dial(limited, conn, s.Key, s.Number)
	if err != nil {
		return err
	}
	defer c.Close()
	defer context.AfterFunc(ctx, func() { conn.Close() })()
	c.SetDeadline(time.Now().Add(idleLimit))
	if _, err := io.WriteString(c, sum+"\n"); err != nil {
		return secure.Explain(err)
	}
	var size uint64
	if err := binary.Read(c, binary.BigEndian, &size); err != nil {
		return secure.Explain(err)
	}
	if size == absent {
		return errors.New("it has no such file")
	}
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			os.Remove(path)
		}
	}()
	h := sha256.New()
	for left := int64(size); left > 0; {
		c.SetDeadline(time.Now().Add(idleLimit))
		n, err := io.CopyN(io.MultiWriter(file, h), c, min(left, 1<<20))
		if left -= n; err != nil {
			file.Close()
			return err
		}
	}
	if err := errors.Join(file.Chmod(mode), file.Close()); err != nil {
		return err
	}
	if got := hex.EncodeToString(h.Sum(nil)); got != sum {
		return errors.New("the file has changed there since the job was started")
	}
	return nil
}
