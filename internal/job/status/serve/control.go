package serve

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"

	"banyan/internal/job/status"
)

// longestRequest bounds a request in bytes.
const longestRequest = 4096

// AllowControl lets those who watch have something done. It must come before Begin.
func (h *Hub) AllowControl() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.control = true
}

// Operator implements launcher.Watcher.
func (h *Hub) Operator(do status.Operator) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.operator = do
}

// errOnlyShows refuses requests.
var errOnlyShows = errors.New("this page only shows: start the job with --status-control, and it has buttons")

// Operate does what somebody wants who watches, if that is allowed.
func (h *Hub) Operate(q status.Request) (said string, err error) {
	h.mu.Lock()
	allowed, do, over := h.control, h.operator, h.over
	h.mu.Unlock()
	switch {
	case !allowed:
		return "", errOnlyShows
	case over:
		return "", errors.New("the job has ended")
	case do == nil:
		return "", errors.New("the job hasn't begun")
	}
	return do(q)
}

// OperateFor is Operate for another host, in JSON: what it returns is an Answer.
func (h *Hub) OperateFor(request []byte) (answer []byte) {
	var a Answer
	var q status.Request
	err := json.Unmarshal(request, &q)
	if err == nil {
		a.Said, err = h.Operate(q)
	}
	if err != nil {
		a.Error = err.Error()
	}
	answer, _ = json.Marshal(a) // two strings
	return answer
}

// Answer says what became of a request: one of both is empty.
type Answer struct {
	Said  string `json:"said,omitempty"`
	Error string `json:"error,omitempty"`
}

// Operate makes a status.Operator of what asks another host's Hub.
func Operate(ask func(request []byte) (answer []byte, err error)) status.Operator {
	return func(q status.Request) (string, error) {
		text, err := json.Marshal(q)
		if err != nil {
			return "", err
		}
		if text, err = ask(text); err != nil {
			return "", err
		}
		var a Answer
		switch err := json.Unmarshal(text, &a); {
		case err != nil:
			return "", fmt.Errorf("the launcher's answer makes no sense: %w", err)
		case a.Error != "":
			return "", errors.New(a.Error)
		}
		return a.Said, nil
	}
}

// operate answers a request. guarded has asked for the token.
func (s *Server) operate(w http.ResponseWriter, r *http.Request) {
	q := status.Request{Process: -1, Host: -1} // what isn't named isn't the first
	from := json.NewDecoder(io.LimitReader(r.Body, longestRequest))
	from.DisallowUnknownFields()
	answer, code := Answer{}, http.StatusOK
	err := from.Decode(&q)
	if err != nil {
		code = http.StatusBadRequest
	} else if answer.Said, err = s.hub.Operate(q); errors.Is(err, errOnlyShows) {
		code = http.StatusForbidden
	} else if err != nil {
		code = http.StatusConflict
	}
	if err != nil {
		answer.Error = err.Error()
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	json.NewEncoder(w).Encode(answer) // a client that has gone gets none
}
