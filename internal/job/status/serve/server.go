package serve

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"time"
)

// NoToken is the token with which none is asked for.
const NoToken = "none"

const (
	// keepAlive is how often a stream says that it is there.
	keepAlive = 5 * time.Second
	// writeLimit bounds how long a reader may take for a message.
	writeLimit = 20 * time.Second
	// closeLimit bounds how long Close waits for readers that still get the job's end.
	closeLimit = 2 * time.Second
)

// Server shows a job over HTTP.
type Server struct {
	hub     *Hub
	token   string // empty: none is asked for
	address Address
	http    http.Server
	at      *listener
	stopped chan struct{}
}

// Listen begins to show a job. An empty token is replaced by a random one; NoToken asks for none.
// metrics answers /metrics; nil: nothing does.
func Listen(h *Hub, a Address, token string, metrics http.Handler) (*Server, error) {
	return serveAt(h, a, token, nil, metrics)
}

func serveAt(h *Hub, a Address, token string, c *certificate, metrics http.Handler) (*Server, error) {
	s := &Server{hub: h, token: token, address: a, stopped: make(chan struct{})}
	if a.network == "unix" || token == NoToken {
		s.token = ""
	} else if token == "" {
		var random [16]byte
		rand.Read(random[:]) // never fails
		s.token = hex.EncodeToString(random[:])
	}
	if token == NoToken && a.secure {
		return nil, errors.New("without a token anybody could watch: only loopback and unix sockets may do without")
	}
	var err error
	if s.at, err = a.listen(c); err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", s.page)
	mux.HandleFunc("GET /api/state", s.state)
	mux.HandleFunc("GET /api/events", s.events)
	mux.HandleFunc("POST /api/control", s.operate)
	mux.HandleFunc("GET /api/trace", s.trace)
	if metrics != nil {
		mux.Handle("GET /metrics", metrics)
	}
	s.http = http.Server{Handler: s.guarded(mux), ReadHeaderTimeout: 10 * time.Second, IdleTimeout: time.Minute, MaxHeaderBytes: 16 << 10}
	go func() {
		s.http.Serve(s.at) // until Close
		close(s.stopped)
	}()
	return s, nil
}

// URL is where a browser finds the page, with the token.
func (s *Server) URL() string {
	switch {
	case s.at.url == "":
		return "unix:" + s.at.Addr().String()
	case s.token == "":
		return s.at.url
	}
	return s.at.url + "?token=" + s.token
}

// Address is the URL without the token.
func (s *Server) Address() string {
	if s.at.url == "" {
		return s.URL()
	}
	return s.at.url
}

// Fingerprint is the SHA-256 of the certificate in hexadecimal, empty without TLS.
func (s *Server) Fingerprint() string {
	if s.at.certificate == nil {
		return ""
	}
	return s.at.certificate.fingerprint()
}

// Close stops. Streams end after what they have to say.
func (s *Server) Close() {
	ctx, cancel := context.WithTimeout(context.Background(), closeLimit)
	defer cancel()
	if s.http.Shutdown(ctx) != nil {
		s.http.Close()
	}
	<-s.stopped
}

// guarded asks for the token.
func (s *Server) guarded(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Cache-Control", "no-store")
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		given := r.URL.Query().Get("token")
		if bearer, is := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer "); is {
			given = bearer
		}
		if s.token != "" && subtle.ConstantTimeCompare([]byte(given), []byte(s.token)) != 1 {
			http.Error(w, "the token is missing or wrong: use the whole address that banyan run has printed", http.StatusForbidden)
			return
		}
		if s.token == "" && s.address.network == "tcp" && !isLocal(r.Host) { // a name that others have turned to this address
			http.Error(w, "without a token this page answers as localhost, 127.0.0.1 and ::1 only", http.StatusMisdirectedRequest)
			return
		}
		if s.token != "" { // else any page that the user opens could read the job's
			h.Set("Access-Control-Allow-Origin", "*") // pages of other agents come here; the token protects
		}
		next.ServeHTTP(w, r)
	})
}

// isLocal tells whether a request's host is this machine, whatever names others may have for it.
func isLocal(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	ip := net.ParseIP(strings.Trim(host, "[]"))
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

func (s *Server) page(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", policy)
	write(w, r, livePage)
}

func (s *Server) state(w http.ResponseWriter, r *http.Request) {
	text := s.hub.state()
	if text == nil {
		w.Header().Set("Retry-After", "1")
		http.Error(w, "the job hasn't begun", http.StatusServiceUnavailable)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	write(w, r, append(text, '\n'))
}

// write writes a body, compressed if the client can read that.
func write(w http.ResponseWriter, r *http.Request, body []byte) {
	if len(body) > 4096 && strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		z.Write(body) // into memory
		z.Close()
		w.Header().Set("Content-Encoding", "gzip")
		body = b.Bytes()
	}
	w.Header().Set("Content-Length", fmt.Sprint(len(body)))
	w.Write(body) // a client that has gone gets none
}

// events streams what happens.
func (s *Server) events(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("X-Accel-Buffering", "no")
	control := http.NewResponseController(w)
	reader := s.hub.subscribe(false)
	defer s.hub.leave(reader)
	say := func(b []byte) bool {
		control.SetWriteDeadline(time.Now().Add(writeLimit))
		_, err := w.Write(b)
		return err == nil && control.Flush() == nil
	}
	alive := time.NewTicker(keepAlive)
	defer alive.Stop()
	if !say([]byte("retry: 1000\n\n")) {
		return
	}
	for {
		select {
		case m, more := <-reader.messages:
			if !more || !say(m) {
				return
			}
		case <-alive.C:
			if !say([]byte("event: alive\ndata: {}\n\n")) {
				return
			}
		case <-r.Context().Done():
			return
		}
	}
}
