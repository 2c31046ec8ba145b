package window

import "testing"

func BenchmarkLock(b *testing.B) {
	m, _, err := Make(0, 2, 0)
	if err != nil {
		b.Fatal(err)
	}
	defer m.Close()
	for b.Loop() {
		if !m.TryLock(0, true, nobody) {
			b.Fatal("it isn't free")
		}
		m.Unlock(0, true)
	}
}
