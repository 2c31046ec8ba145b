package binding

import (
	"os"
	"strings"
	"testing"
)

func TestInfo(t *testing.T) {
	ranks(t, 1, func(t *testing.T, p *Process) {
		ok(t, "set", p.CommSetErrhandler(CommWorld, ErrorsReturn))
		var i, dup Info
		var n, flag, length int32
		ok(t, "create", p.InfoCreate(&i))
		for _, kv := range []string{"one=1", "two=2", "three=3", "two=22"} {
			k, v, _ := strings.Cut(kv, "=")
			ok(t, "set", p.InfoSet(i, cString(k), cString(v)))
		}
		ok(t, "dup", p.InfoDup(i, &dup))
		ok(t, "delete", p.InfoDelete(i, cString("one")))
		for h, want := range map[Info]string{i: "two=22 three=3 ", dup: "one=1 two=22 three=3 "} {
			got := ""
			ok(t, "nkeys", p.InfoGetNkeys(h, &n))
			for k := range n {
				key, value := make([]byte, MaxInfoKey), make([]byte, MaxInfoVal+1)
				ok(t, "nthkey", p.InfoGetNthkey(h, k, &key[0]))
				ok(t, "get", p.InfoGet(h, &key[0], MaxInfoVal, &value[0], &flag))
				ok(t, "valuelen", p.InfoGetValuelen(h, &key[0], &length, &flag))
				if s := goString(&value[0]); flag != 1 || int(length) != len(s) {
					t.Errorf("%s: flag %d, length %d", s, flag, length)
				}
				got += goString(&key[0]) + "=" + goString(&value[0]) + " "
			}
			if got != want {
				t.Errorf("%q, want %q", got, want)
			}
		}
		// Too little room cuts a value. The two functions count the room differently.
		value := []byte("xxxxxxxx")
		ok(t, "set", p.InfoSet(i, cString("long"), cString("abcdef")))
		ok(t, "get", p.InfoGet(i, cString("long"), 3, &value[0], &flag))
		if string(value) != "abc\x00xxxx" {
			t.Errorf("MPI_Info_get with room for 3: %q", value)
		}
		value, length = []byte("xxxxxxxx"), 3
		ok(t, "get_string", p.InfoGetString(i, cString("long"), &length, &value[0], &flag))
		if string(value) != "ab\x00xxxxx" || length != 7 {
			t.Errorf("MPI_Info_get_string with room for 3: %q, %d", value, length)
		}
		length = 0
		ok(t, "get_string", p.InfoGetString(i, cString("long"), &length, nil, &flag))
		if length != 7 || flag != 1 {
			t.Errorf("MPI_Info_get_string without room: %d, %d", length, flag)
		}
		ok(t, "get", p.InfoGet(i, cString("none"), 3, &value[0], &flag))
		if flag != 0 {
			t.Error("a key that isn't there is found")
		}
		old := i
		ok(t, "free", p.InfoFree(&i))
		env := InfoEnv
		for what, test := range map[string]struct{ got, want Code }{
			"a freed object":   {p.InfoSet(old, cString("a"), cString("b")), ErrInfo},
			"the null object":  {p.InfoGetNkeys(InfoNull, &n), ErrInfo},
			"no key to delete": {p.InfoDelete(dup, cString("none")), ErrInfoNokey},
			"an empty key":     {p.InfoSet(dup, cString(""), cString("b")), ErrInfoKey},
			"a long key":       {p.InfoSet(dup, cString(strings.Repeat("k", MaxInfoKey)), cString("b")), ErrInfoKey},
			"an empty value":   {p.InfoSet(dup, cString("k"), cString("")), ErrInfoValue},
			"a long value":     {p.InfoSet(dup, cString("k"), cString(strings.Repeat("v", MaxInfoVal))), ErrInfoValue},
			"key 3 of 3":       {p.InfoGetNthkey(dup, 3, &value[0]), ErrArg},
			"negative room":    {p.InfoGet(dup, cString("one"), -1, &value[0], &flag), ErrArg},
			"the environment":  {p.InfoSet(env, cString("a"), cString("b")), ErrInfo},
			"its end":          {p.InfoFree(&env), ErrInfo},
			"a communicator's": {p.InfoGetNkeys(Info(CommWorld), &n), ErrInfo},
		} {
			if test.got != test.want {
				t.Errorf("%s: %d, want %d", what, test.got, test.want)
			}
		}
	})
}

// MPI_INFO_ENV holds how the program was started.
func TestInfoEnv(t *testing.T) {
	ranks(t, 1, func(t *testing.T, p *Process) {
		wd, err := os.Getwd()
		if err != nil {
			t.Fatal(err)
		}
		for key, want := range map[string]string{"command": os.Args[0], "wdir": wd, "thread_level": "MPI_THREAD_SINGLE"} {
			value, flag, length := make([]byte, MaxInfoVal), int32(0), int32(MaxInfoVal)
			ok(t, "get", p.InfoGetString(InfoEnv, cString(key), &length, &value[0], &flag))
			if flag != 1 || goString(&value[0]) != want {
				t.Errorf("%s is %q, want %q", key, goString(&value[0]), want)
			}
		}
	})
}
