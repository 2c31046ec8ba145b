package field

import (
	"errors"
	"io"
	"testing"
)

func TestError(t *testing.T) {
	err := Errorf("nodes", "%d: want 1", 0)
	if wrong := (*Error)(nil); err.Error() != "nodes: 0: want 1" || !errors.As(err, &wrong) || wrong.Field != "nodes" {
		t.Errorf("%v", err)
	}
	if err := Wrap("trace", io.EOF); !errors.Is(err, io.EOF) {
		t.Errorf("%v isn't io.EOF", err)
	}
}
