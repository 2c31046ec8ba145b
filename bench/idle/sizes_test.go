package idle

import (
	"errors"
	"strings"
	"testing"
	"time"
)

// The time is that of the last member that got to know all, and the end of one isn't counted again.
func TestSizes(t *testing.T) {
	s := newSizes()
	s.room(3)
	for i := range 3 {
		s.set(i, 3)
	}
	if _, err := s.await(3, time.Second); err != nil {
		t.Fatal(err)
	}
	if left := s.end(2); left != 2 {
		t.Errorf("%d are left", left)
	}
	began := time.Now()
	time.AfterFunc(10*time.Millisecond, func() { s.add(2, 1); s.add(0, -1); s.set(1, 2) })
	at, err := s.await(2, time.Second)
	if err != nil || at.Sub(began) < 10*time.Millisecond {
		t.Errorf("%v, %v", at.Sub(began), err)
	}
	s.end(0)
	s.fail(0, errors.New("as it should"))
	s.set(1, 1)
	if _, err := s.await(2, time.Millisecond); err == nil || !strings.Contains(err.Error(), "0 of 2 members know all after 1ms; one knows 1") {
		t.Error(err)
	}
	s.fail(1, errors.New("excluded"))
	if _, err := s.await(2, time.Minute); err == nil || err.Error() != "member 1 has ended: excluded" {
		t.Error(err)
	}
}
