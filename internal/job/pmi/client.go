package pmi

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
)

// Client is a process's connection to the PMI server of its job. Its methods may be called from
// several goroutines. A nil Client is that of a process that no launcher has started: Rank and
// Size are 0, and Finalize and Abort do nothing.
type Client struct {
	rank, size int
	name       string // of the key-value space
	maxKey     int
	maxValue   int
	ahead      bool // the server takes questions before it has answered those before them

	mu     sync.Mutex // one question, or one batch of them, at a time
	conn   io.ReadWriteCloser
	stream stream
}

// FromEnv connects to the server that the environment names. If it names none, it returns nil and
// no error: the process is a job of one. It takes the descriptor over, so that programs which
// this process starts don't inherit it. ahead says that the server reads ahead, as this package's
// Server does.
func FromEnv(ahead bool) (*Client, error) {
	fd, port := os.Getenv("PMI_FD"), os.Getenv("PMI_PORT")
	switch {
	case fd != "":
		conn, err := inherit(fd)
		if err != nil {
			return nil, fmt.Errorf("pmi: PMI_FD=%s: %w", fd, err)
		}
		os.Unsetenv("PMI_FD")
		rank, size, err := numbering()
		if err != nil {
			conn.Close()
			return nil, err
		}
		return start(conn, newStream(conn), rank, size, ahead)
	case port != "":
		conn, err := net.Dial("tcp", port)
		if err != nil {
			return nil, fmt.Errorf("pmi: PMI_PORT: %w", err)
		}
		return introduce(conn, cmp.Or(os.Getenv("PMI_ID"), os.Getenv("PMI_RANK"), "0"))
	}
	return nil, nil
}

// inherit makes a connection of an inherited descriptor.
func inherit(s string) (*os.File, error) {
	fd, err := strconv.Atoi(s)
	if err != nil || fd < 0 {
		return nil, errors.New("not a descriptor")
	}
	if err := syscall.SetNonblock(fd, true); err != nil {
		return nil, err
	}
	syscall.CloseOnExec(fd)
	return os.NewFile(uintptr(fd), "pmi"), nil
}

// numbering reads PMI_RANK and PMI_SIZE.
func numbering() (rank, size int, err error) {
	rank, err1 := strconv.Atoi(os.Getenv("PMI_RANK"))
	size, err2 := strconv.Atoi(os.Getenv("PMI_SIZE"))
	if err1 != nil || err2 != nil || rank < 0 || rank >= size {
		return 0, 0, fmt.Errorf("pmi: PMI_RANK=%q and PMI_SIZE=%q don't number a process",
			os.Getenv("PMI_RANK"), os.Getenv("PMI_SIZE"))
	}
	return rank, size, nil
}

// introduce tells a server behind a port which process is calling, and learns rank and size from
// it.
func introduce(conn io.ReadWriteCloser, id string) (*Client, error) {
	s := newStream(conn)
	fail := func(err error) (*Client, error) {
		conn.Close()
		return nil, fmt.Errorf("pmi: introduction: %w", err)
	}
	if err := s.write(newLine("initack", "pmiid", id)); err != nil {
		return fail(err)
	}
	settings := line{cmd: "set"}
	for _, want := range []string{"initack", "set", "set", "set"} {
		l, err := s.read()
		if err != nil {
			return fail(err)
		}
		if l.cmd != want {
			return fail(fmt.Errorf("got %q, want cmd=%s", l, want))
		}
		settings.fields = append(settings.fields, l.fields...)
	}
	size, err := settings.number("size")
	if err != nil {
		return fail(err)
	}
	rank, err := settings.number("rank")
	if err != nil {
		return fail(err)
	}
	return start(conn, s, rank, size, false)
}

// NewClient makes the client of process rank of size, and greets the server behind conn. The
// client owns conn from now on.
func NewClient(conn io.ReadWriteCloser, rank, size int) (*Client, error) {
	return start(conn, newStream(conn), rank, size, false)
}

func start(conn io.ReadWriteCloser, s stream, rank, size int, ahead bool) (*Client, error) {
	c := &Client{rank: rank, size: size, conn: conn, stream: s, ahead: ahead}
	err := c.greet()
	if err != nil {
		conn.Close()
		return nil, err
	}
	return c, nil
}

func (c *Client) greet() error {
	b := c.Batch()
	b.add(newLine("init", "pmi_version", "1", "pmi_subversion", "1"), "response_to_init", nil)
	b.add(newLine("get_maxes"), "maxes", func(maxes line) (err error) {
		if c.maxKey, err = maxes.number("keylen_max"); err != nil {
			return fmt.Errorf("pmi: %w", err)
		}
		if c.maxValue, err = maxes.number("vallen_max"); err != nil {
			return fmt.Errorf("pmi: %w", err)
		}
		return nil
	})
	b.add(newLine("get_my_kvsname"), "my_kvsname", func(space line) error {
		c.name, _ = space.get("kvsname")
		return nil
	})
	return b.Ask()
}

// ask sends a question and returns the answer. It is an error if the answer isn't the command
// want, or says failure.
func (c *Client) ask(question line, want string) (line, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.askOne(question, want)
}

// askOne is ask with the lock held.
func (c *Client) askOne(question line, want string) (line, error) {
	if err := c.stream.write(question); err != nil {
		return line{}, fmt.Errorf("pmi: %s: %w", question.cmd, err)
	}
	return c.hear(question.cmd, want)
}

// hear returns the answer to a question.
func (c *Client) hear(cmd, want string) (line, error) {
	answer, err := c.stream.read()
	if err == io.EOF {
		err = errors.New("the server has gone")
	}
	if err != nil {
		return line{}, fmt.Errorf("pmi: %s: %w", cmd, err)
	}
	if answer.cmd != want {
		return line{}, fmt.Errorf("pmi: %s was answered %q", cmd, answer)
	}
	if rc, ok := answer.get("rc"); ok && rc != "0" {
		msg, _ := answer.get("msg")
		return answer, &refusal{cmd, rc, msg}
	}
	return answer, nil
}

// refusal is an answer that says failure.
type refusal struct{ cmd, rc, msg string }

func (r *refusal) Error() string {
	return fmt.Sprintf("pmi: %s failed: rc=%s %s", r.cmd, r.rc, r.msg)
}

// Rank is the number of this process, 0…Size-1.
func (c *Client) Rank() int {
	if c == nil {
		return 0
	}
	return c.rank
}

// Size is the number of processes that the job was started with.
func (c *Client) Size() int {
	if c == nil {
		return 0
	}
	return c.size
}

// Put publishes a value for the other processes. They can Get it after a Barrier that follows the
// Put.
func (c *Client) Put(key, value string) error {
	if err := checkWord("key", key, c.maxKey); err != nil {
		return err
	}
	if err := checkWord("value", value, c.maxValue); err != nil {
		return err
	}
	_, err := c.ask(newLine("put", "kvsname", c.name, "key", key, "value", value), "put_result")
	return err
}

// Get returns the value that a process has put. The error is ErrNoKey if none has.
func (c *Client) Get(key string) (string, error) {
	if err := checkWord("key", key, c.maxKey); err != nil {
		return "", err
	}
	answer, err := c.ask(newLine("get", "kvsname", c.name, "key", key), "get_result")
	if r := (*refusal)(nil); errors.As(err, &r) {
		return "", fmt.Errorf("pmi: get %s: %w", key, ErrNoKey)
	}
	value, _ := answer.get("value")
	return value, err
}

// Barrier waits until every live process is in it.
func (c *Client) Barrier() error {
	_, err := c.ask(newLine("barrier_in"), "barrier_out")
	return err
}

// Finalize tells the server that this process leaves, and closes the connection.
func (c *Client) Finalize() error {
	if c == nil {
		return nil
	}
	_, err := c.ask(newLine("finalize"), "finalize_ack")
	return errors.Join(err, c.conn.Close())
}

// Abort asks the server to end the whole job with an exit code. It doesn't wait for the end,
// which concerns the caller, too.
func (c *Client) Abort(code int, message string) error {
	if c == nil {
		return nil
	}
	// There is no lock, since a question that waits for its answer must not hold this up. A line
	// is one write, so that lines don't mix.
	l := newLine("abort", "exitcode", strconv.Itoa(code))
	if message = inOneWord.Replace(strings.Join(strings.Fields(message), " ")); message != "" {
		l.fields = append(l.fields, field{"error_msg", message[:min(len(message), maxValue)]})
	}
	return c.stream.write(l)
}
