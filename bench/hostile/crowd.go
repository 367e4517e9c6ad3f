package hostile

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"toolnorm/bench/fake"
)

// The limits for many of the largest bodies at once.
const (
	crowdSize  = 32
	crowdPeak  = 512 << 20        // bytes of resident memory, at the highest
	crowdLater = 128 << 20        // bytes that may be left after crowdRest
	crowdRest  = 8 * time.Second  // the pause after the last answer
	crowdCPU   = 40 * time.Second // processor time
)

// crowds returns attacks by many of the largest bodies at once, on each API. Each body is within
// the limits, but together they once took 4 GB, which the server never released.
func crowds() (all []attack) {
	for _, a := range []struct{ name, path, body string }{
		{"chat: 32 texts of 19 MB at once", chatPath, turns},
		{"Responses: 32 texts of 19 MB at once", "/v1/responses",
			`{"model":"%s","input":[{"role":"user","content":"%s"},{"role":"user","content":"%s"}]}`},
		{"Messages: 32 texts of 19 MB at once", "/v1/messages",
			`{"model":"%s","max_tokens":100,"messages":[{"role":"user","content":"%s"},{"role":"user","content":"%s"}]}`},
		{"Ollama's API: 32 texts of 19 MB at once", "/api/chat", turns},
	} {
		body := fmt.Sprintf(a.body, fake.Model, strings.Repeat("word ", (19<<20)/5),
			`{\"Call\":true,\"Bytes\":400}`)
		all = append(all, crowd(a.name, a.path, body))
	}
	return append(all, crowd("chat: 32 bodies of 19 MB of x at once", chatPath,
		strings.Repeat("x", 19<<20)))
}

// crowd returns an attack by one body that is sent many times at once. Some of the requests may be
// refused. The memory must be released afterwards.
func crowd(name, path, body string) attack {
	return attack{name: name, peak: crowdPeak, cpu: crowdCPU, send: func(t *target) error {
		errs := make([]error, crowdSize)
		var all sync.WaitGroup
		for i := range errs {
			all.Go(func() { errs[i] = wantAnswer(t.post(path, body)) })
		}
		all.Wait()
		time.Sleep(crowdRest)
		now, err := t.p.Resident()
		if err == nil && now > crowdLater {
			err = fmt.Errorf("%d MB of memory %v later, the limit is %d", now>>20, crowdRest,
				crowdLater>>20)
		}
		return errors.Join(append(errs, err)...)
	}}
}
