package page

import (
	"context"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"
)

// The ratio is that within a round, whatever the machine does from round to round.
func TestRows(t *testing.T) {
	done := make(map[Setting][]job)
	for round := range 8 {
		slow := time.Duration(1+round) * time.Second
		done[Off] = append(done[Off], job{took: slow, cpu: 2 * slow})
		done[On] = append(done[On], job{took: slow, cpu: 2 * slow})
		done[Open] = append(done[Open], job{took: slow * 101 / 100, cpu: slow * 3, bytes: 1000})
	}
	for _, r := range rows(done) {
		time, cpu, bytes := 1.0, 1.0, 0.0
		if r.Setting == Open {
			time, cpu, bytes = 1.01, 1.5, 1000
		}
		if math.Abs(r.Time.Ratio-time) > 1e-6 || math.Abs(r.Processor.Ratio-cpu) > 1e-6 || r.Bytes != bytes || r.Time.To > time+1e-6 {
			t.Errorf("%+v", r)
		}
	}
	if rows(nil) != nil {
		t.Error("rows of no round")
	}
}

// The address is found however stderr comes, once, and what is kept of it is bounded.
func TestAddress(t *testing.T) {
	s := &said{address: make(chan string, 1)}
	for _, part := range []string{"banyan: the job is sho", "wn at http://127.0.0.1:4", "3/?token=x", "\nbanyan: the job is shown at nowhere\n"} {
		io.WriteString(s, part)
	}
	if got := <-s.address; got != "http://127.0.0.1:43/?token=x" {
		t.Errorf("%q", got)
	}
	for range 100 {
		fmt.Fprintf(s, "%0100d", 0)
	}
	if n := len(s.last()); n > maxSaid {
		t.Errorf("%d bytes are kept", n)
	}
}

// The reader gets the page and the events with the token, and both count.
func TestRead(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("token") != "x" {
			http.Error(w, "no", http.StatusForbidden)
			return
		}
		fmt.Fprint(w, map[string]string{"/": "page", "/api/events": "events"}[r.URL.Path])
	}))
	defer server.Close()
	address := make(chan string, 1)
	address <- server.URL + "/?token=x"
	if n, err := read(context.Background(), address); n != 10 || err != nil {
		t.Errorf("%d bytes, %v", n, err)
	}
	address <- server.URL + "/?token=y"
	if _, err := read(context.Background(), address); err == nil {
		t.Error("a refusal is no error")
	}
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := read(ended, make(chan string)); err == nil {
		t.Error("a job without a page is no error")
	}
}
