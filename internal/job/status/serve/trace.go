package serve

import (
	"compress/gzip"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"

	"banyan/internal/job/status"
	"banyan/internal/trace/chrome"
)

// traceFile is where the trace is of which an event tells; empty: there is none here. Another
// launcher's host has its own files.
func (h *Hub) traceFile(number uint64) string {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.tracker == nil || number <= h.others {
		return ""
	}
	for _, e := range h.tracker.State().Events {
		if e.Number == number && e.Kind == status.KindTrace {
			return e.File
		}
	}
	return ""
}

// trace gives a trace that was asked for: for Perfetto, or with format=jsonl as it was recorded.
func (s *Server) trace(w http.ResponseWriter, r *http.Request) {
	number, _ := strconv.ParseUint(r.URL.Query().Get("number"), 10, 64)
	path := s.hub.traceFile(number)
	if path == "" {
		http.Error(w, "there is no such trace here: number must be that of an event of the kind trace, on the page of the launcher that took it", http.StatusNotFound)
		return
	}
	file, err := os.Open(path)
	if err != nil {
		http.Error(w, err.Error(), http.StatusNotFound)
		return
	}
	defer file.Close()
	kind, convert := "application/json", chrome.Write
	if r.URL.Query().Get("format") == "jsonl" {
		kind, convert = "application/jsonl", func(w io.Writer, from io.Reader) error { _, err := io.Copy(w, from); return err }
	}
	w.Header().Set("Content-Type", kind)
	to := io.Writer(w)
	if strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		w.Header().Set("Content-Encoding", "gzip")
		z := gzip.NewWriter(w)
		defer z.Close()
		to = z
	}
	if err := convert(to, file); err != nil {
		panic(http.ErrAbortHandler) // a part is written: it must not look whole
	}
}
