package group_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"banyan/group"
)

// A death says how it became known, in words, in JSON, too.
func TestCauseInWords(t *testing.T) {
	d := group.Death{Identity: group.Identity{Name: "anna", Incarnation: 3}, Cause: group.Ended}
	if d.String() != "anna.3 (ended)" {
		t.Error(d)
	}
	text, err := json.Marshal(d)
	var got group.Death
	if err == nil {
		err = json.Unmarshal(text, &got)
	}
	if err != nil || got != d || !strings.Contains(string(text), `"Cause":"ended"`) {
		t.Errorf("%s, %v", text, err)
	}
	if err := new(group.Cause).UnmarshalText([]byte("murdered")); err == nil {
		t.Error("an unknown cause is taken")
	}
}

// logText collects what is logged.
type logText struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *logText) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(b)
}

func (l *logText) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// The log names members as the program does, and says at level info what each seed answered.
func TestLogInWords(t *testing.T) {
	var text logText
	logger := slog.New(slog.NewTextHandler(&text, &slog.HandlerOptions{Level: slog.LevelInfo}))
	first := config("anna")
	first.Logger = logger
	anna := join(t, first)
	second := config("bert", "127.0.0.1:1", anna.Self().Address)
	second.Logger = logger
	bert := join(t, second)
	await(t, anna, "bert", func(v *group.View) bool { return len(v.Members) == 2 })
	bert.Close()
	await(t, anna, "no bert", func(v *group.View) bool { return len(v.Died) == 1 })
	got := text.String()
	for _, want := range []string{
		`seed=127.0.0.1:1 answer="connect: connection refused"`, "seed=" + anna.Self().Address + " answer=welcome",
		`members="[anna.1 bert.2]"`, `gone="[bert.2 (`, "token=",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("the log lacks %s", want)
		}
	}
	if number := regexp.MustCompile(`[ \[={]\d+\.\d+[ \]}]`).FindString(got); number != "" {
		t.Errorf("the log names a member by numbers: %s", number)
	}
	if t.Failed() {
		t.Log(got)
	}
}

// An address in use isn't a wrong configuration.
func TestAddressInUse(t *testing.T) {
	anna := join(t, config("anna"))
	cfg := config("bert", anna.Self().Address)
	cfg.Listen = anna.Self().Address
	if _, err := group.Join(t.Context(), cfg); !errors.Is(err, group.ErrAddressInUse) || errors.Is(err, group.ErrConfig) || !strings.Contains(err.Error(), cfg.Listen) {
		t.Error(err)
	}
}

// A wait that ends too early says what it has waited for.
func TestLeaveInWords(t *testing.T) {
	anna := join(t, config("anna"))
	bert := join(t, config("bert", anna.Self().Address))
	ctx, cancel := context.WithTimeout(t.Context(), time.Nanosecond)
	defer cancel()
	if err := bert.Leave(ctx); err != nil && (!errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "the others have no view")) {
		t.Error(err)
	}
}
