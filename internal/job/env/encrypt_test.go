package env

import (
	"strings"
	"testing"
)

func TestParseEncrypt(t *testing.T) {
	for text, want := range map[string]string{"": EncryptNone, "none": EncryptNone, "hosts": EncryptHosts, "tcp": EncryptTCP} {
		if got, err := ParseEncrypt(text); got != want || err != nil {
			t.Errorf("%q: %q, %v", text, got, err)
		}
	}
	for _, text := range []string{"yes", "Hosts", "hosts "} {
		if got, err := ParseEncrypt(text); err == nil || !strings.Contains(err.Error(), "hosts") {
			t.Errorf("%q: %q, %v", text, got, err)
		}
	}
}
