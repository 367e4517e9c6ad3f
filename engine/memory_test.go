package engine

import (
	"testing"
	"testing/synctest"
	"time"
)

// TestLessonsEndWithTheModel has models with and without a digest: one rule says how long each
// lesson counts.
func TestLessonsEndWithTheModel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var m memory
		for _, digest := range []string{"sha:1", ""} {
			m.learn("m", digest, func(l *lessons) { l.avoid(Tap) })
			m.learn("m", digest, func(l *lessons) { l.avoid(Native); l.strict = true })
			l := m.of("m", digest)
			if !l.avoids(Tap) || !l.avoids(Native) || l.avoids(Raw) || !l.strict {
				t.Errorf("digest %q: lessons %+v", digest, l)
			}
			if other := m.of("m", digest+"2"); other.strict || other.avoids(Tap) {
				t.Errorf("digest %q: another model has its lessons %+v", digest, other)
			}
			time.Sleep(undigestedAge)
			if l := m.of("m", digest); l.strict != (digest != "") {
				t.Errorf("digest %q, after %v: lessons %+v", digest, undigestedAge, l)
			}
		}
	})
}
