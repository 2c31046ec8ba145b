package env

import "fmt"

// Values of Encrypt.
const (
	EncryptNone  = "none"  // nothing is encrypted
	EncryptHosts = "hosts" // what leaves the host
	EncryptTCP   = "tcp"   // all that travels over TCP, also within a host
)

// ParseEncrypt reads the value of Encrypt. An empty text means EncryptNone.
func ParseEncrypt(text string) (string, error) {
	switch text {
	case "":
		return EncryptNone, nil
	case EncryptNone, EncryptHosts, EncryptTCP:
		return text, nil
	}
	return "", fmt.Errorf("%q can't be encrypted; there are hosts (what leaves the host), tcp (also TCP within a host) and none", text)
}
