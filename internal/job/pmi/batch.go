package pmi

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// Batch are questions that are asked together. A server that reads ahead gets them in one message,
// so that a process waits once for all answers. Other servers are asked one question at a time.
type Batch struct {
	client *Client
	asked  []asked
	err    error // the first question that can't be asked
}

// asked is one question, and what is done with its answer.
type asked struct {
	question line
	want     string // the command of the answer
	answered func(line) error
}

// Batch begins an empty batch.
func (c *Client) Batch() *Batch { return &Batch{client: c} }

// Put adds Client.Put.
func (b *Batch) Put(key, value string) {
	b.check("key", key, b.client.maxKey)
	b.check("value", value, b.client.maxValue)
	b.add(newLine("put", "kvsname", b.client.name, "key", key, "value", value), "put_result", nil)
}

// Get adds Client.Get. The value becomes "" if no process has put one.
func (b *Batch) Get(key string, value *string) {
	b.check("key", key, b.client.maxKey)
	b.add(newLine("get", "kvsname", b.client.name, "key", key), "get_result", func(answer line) error {
		*value, _ = answer.get("value")
		return nil
	})
}

// Barrier adds Client.Barrier. What comes after it is answered when the barrier has opened.
func (b *Batch) Barrier() { b.add(newLine("barrier_in"), "barrier_out", nil) }

// Hosts adds the question on which host each process runs. hosts becomes nil if the server doesn't
// say; if nobody can understand what it says, unclear says why.
func (b *Batch) Hosts(hosts *[]int32, unclear *error) {
	b.add(newLine("get", "kvsname", b.client.name, "key", mappingKey), "get_result", func(answer line) error {
		mapping, has := answer.get("value")
		if !has {
			return nil
		}
		all, err := parseMapping(mapping, b.client.size)
		if err != nil {
			*unclear = fmt.Errorf("pmi: %s: %w", mappingKey, err)
			return nil
		}
		*hosts = all
		return nil
	})
}

// Program adds the question which of the job's programs this process runs, from 0. A launcher that
// doesn't know says -1.
func (b *Batch) Program(program *int) {
	b.add(newLine("get_appnum"), "appnum", func(answer line) error {
		text, _ := answer.get("appnum")
		n, err := strconv.Atoi(text)
		if err != nil {
			return fmt.Errorf("pmi: appnum %q is no number", text)
		}
		*program = n
		return nil
	})
}

func (b *Batch) check(what, word string, limit int) {
	if err := checkWord(what, word, limit); err != nil && b.err == nil {
		b.err = err
	}
}

func (b *Batch) add(question line, want string, answered func(line) error) {
	b.asked = append(b.asked, asked{question, want, answered})
}

// Ask asks all questions, and returns the first error. It asks none if one can't be asked.
func (b *Batch) Ask() error {
	if b.err != nil {
		return b.err
	}
	c := b.client
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ahead {
		return c.askAhead(b.asked)
	}
	for i := range b.asked {
		a := &b.asked[i]
		answer, err := c.askOne(a.question, a.want)
		if err = a.take(answer, err); err != nil {
			return err
		}
	}
	return nil
}

// askAhead writes all questions before it reads the first answer. The lock is held.
func (c *Client) askAhead(all []asked) error {
	var text strings.Builder
	for i := range all {
		text.WriteString(all[i].question.String())
		text.WriteByte('\n')
	}
	if err := c.stream.writeText(text.String()); err != nil {
		return fmt.Errorf("pmi: %s: %w", all[0].question.cmd, err)
	}
	var first error
	for i := range all {
		a := &all[i]
		answer, err := c.hear(a.question.cmd, a.want)
		if r := (*refusal)(nil); err != nil && !errors.As(err, &r) {
			return err // there may be no further answers
		}
		if err = a.take(answer, err); first == nil {
			first = err
		}
	}
	return first
}

// take does with an answer what the question was asked for. To be refused a key is no error: the
// answer has no value then.
func (a *asked) take(answer line, err error) error {
	if r := (*refusal)(nil); a.question.cmd == "get" && errors.As(err, &r) {
		answer, err = line{}, nil
	}
	if err != nil || a.answered == nil {
		return err
	}
	return a.answered(answer)
}
