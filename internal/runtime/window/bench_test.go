package window

import "testing"

func BenchmarkLock(b *testing.B) {
	m, _, err := Make(0, 2, 0)
	if err != nil {
		b.Fatal(err)
	}
	defer m.Close()
	for b.Loop() {
		if got, err := m.TryLock(0, true); !got {
			b.Fatal(err)
		}
		m.Unlock(0, true)
	}
}
