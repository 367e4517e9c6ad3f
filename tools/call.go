package tools

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"runtime/debug"
	"strings"
	"time"

	"toolnorm/internal/spelling"
)

// Call runs the tool with the given name. Whatever goes wrong is a Result with IsError: an unknown
// name, arguments that do not fit, the tool's own failure, a panic, a result that is too large, the
// tool's timeout, or the end of ctx. A failure is a Result and no Go error, since the caller passes
// failures to a model like other results, and the model can act on them. The tool runs in its own
// goroutine, so Call returns at the timeout even if the tool ignores its context.
func (r *Registry) Call(ctx context.Context, name string, args json.RawMessage) Result {
	now := r.For(ctx)
	t, ok := now.Find(name)
	if !ok {
		return Failure(now.unknown(name))
	}
	return r.Run(ctx, t, args)
}

// Run runs the tool t, which need not be in the registry, and returns its result. Whatever goes
// wrong is a Result with IsError, as for Call.
func (r *Registry) Run(ctx context.Context, t Tool, args json.RawMessage) (res Result) {
	if r.opts.Watch != nil {
		began, seen := time.Now(), func(Result, time.Duration) {}
		ctx, seen = r.opts.Watch(ctx, t.Name, args)
		defer func() { seen(res, time.Since(began)) }()
	}
	if t.Refuse != nil {
		if res, refused := r.refuse(ctx, t, args); refused {
			return r.passable(t, res)
		}
	}
	args, err := r.fit(t, args)
	if err != nil {
		return Failure(err.Error())
	}
	// A tool's own timeout wins over the registry's, even if it is longer.
	limit := t.Timeout
	if limit == 0 {
		limit = r.opts.Timeout
	}
	timed, cancel := context.WithTimeoutCause(ctx, limit, overdue(fmt.Sprintf(
		"%s took longer than its %v", t.Name, limit)))
	defer cancel()
	// The channel is buffered, so a tool that ends after the timeout does not block for ever.
	done := make(chan Result, 1)
	args = bytes.Clone(args) // a tool that outlives its call may still read them
	r.running.Add(1)
	go func() { // ends with the tool, which ends with its context
		defer r.running.Add(-1)
		done <- r.run(timed, t, args)
	}()
	select {
	case res := <-done:
		return r.passable(t, res)
	case <-timed.Done():
		return stoppedResult(timed, t)
	}
}

// refuse calls the tool's Refuse function and returns its results. If the function panics, refuse
// passes the panic to Options.Panicked and returns false, so that the call goes on.
func (r *Registry) refuse(ctx context.Context, t Tool, args json.RawMessage) (
	res Result, refused bool) {
	defer func() {
		if v := recover(); v != nil && r.opts.Panicked != nil {
			r.opts.Panicked(t.Name, v, debug.Stack())
		}
	}()
	return t.Refuse(ctx, args)
}

// overdue is the cancellation cause of a call's context when the tool's time is over. With a type
// of its own, a timeout differs from a caller that went away.
type overdue string

// Error implements error. It returns a sentence that the caller of the tool can read.
func (o overdue) Error() string { return string(o) }

// stoppedResult returns the failure of a call whose context ended before the tool did. It
// distinguishes a timeout from a cancelled call, since a cancelled call says nothing about the
// tool.
func stoppedResult(ctx context.Context, t Tool) Result {
	if o, ok := context.Cause(ctx).(overdue); ok {
		return Failure(o.Error())
	}
	return Failure(fmt.Sprintf("the call of %s was cancelled", t.Name))
}

// fit returns args converted to the tool's schema by Options.Fit, or an error if they do not fit
// the schema. Missing arguments and null become {}, since clients leave them out for tools without
// parameters.
func (r *Registry) fit(t Tool, args json.RawMessage) (json.RawMessage, error) {
	if text := bytes.TrimSpace(args); len(text) == 0 || string(text) == "null" {
		args = json.RawMessage("{}")
	}
	if r.opts.Fit != nil {
		return r.opts.Fit(t, args)
	}
	var object map[string]json.RawMessage
	if err := json.Unmarshal(args, &object); err != nil {
		return nil, fmt.Errorf("the arguments of %s must be a JSON object: %w", t.Name, err)
	}
	return args, nil
}

// run calls the tool's function and returns its result, or a failure for an error or a panic. The
// message of a panic may contain other callers' data, so it is written to the log and not shown to
// the model. If ctx has ended, the tool's own error is seldom more than "context deadline
// exceeded". So the failure then says that the tool took too long.
func (r *Registry) run(ctx context.Context, t Tool, args json.RawMessage) (res Result) {
	defer func() {
		if v := recover(); v != nil {
			if r.opts.Panicked != nil {
				r.opts.Panicked(t.Name, v, debug.Stack())
			}
			res = Failure(t.Name + " failed inside; the log says where")
		}
	}()
	res, err := t.Call(ctx, args)
	switch {
	case err != nil && ctx.Err() != nil: // the error is a consequence of the ended context
		return stoppedResult(ctx, t)
	case err != nil:
		return Failure(err.Error())
	}
	return res
}

// passable returns res, or a failure if res is too large or its structured value is not JSON. A
// result goes into the context of a model, where more than a megabyte would push everything else
// out. A result that is too large is refused and not cut, because half a list is a wrong list, and
// the model can ask for less.
func (r *Registry) passable(t Tool, res Result) Result {
	if res.Structured != nil && !json.Valid(res.Structured) {
		return Failure(t.Name + " gave a result that is no JSON")
	}
	size := len(res.Structured)
	for _, p := range res.Content {
		size += p.size()
	}
	if len(res.Raw) > 2*r.opts.MaxResult {
		res.Raw = nil // Content says the same, and its size is checked below
	}
	if size > r.opts.MaxResult {
		return Failure(fmt.Sprintf(
			"the result is %d bytes, more than the %d that are passed on; ask for less", size,
			r.opts.MaxResult))
	}
	return res
}

// Gone returns the reason why a tool is not offered although its source has it, such as "tool
// multiply is not active". It returns an empty string if no source has given a reason for the name.
func (s *Snapshot) Gone(name string) string { return s.gone[name] }

// unknown returns the message that there is no tool with the given name. The message lists similar
// names, since models misspell names and make some up. A name of more than twice the longest
// possible length is not repeated, as it is not a name.
func (s *Snapshot) unknown(name string) string {
	if len(name) > 2*longestName {
		return "there is no tool of such a long name"
	}
	if why := s.Gone(name); why != "" {
		return why
	}
	text := fmt.Sprintf("there is no tool %q", name)
	if near := s.near(name); len(near) > 0 {
		text += "; did you mean " + strings.Join(near, ", ") + "?"
	}
	return text
}

// Meant returns the full name of the tool that a person or a model means by name. For example,
// server__tool means server.tool, and a name without a server means the tool with that name if only
// one server has it. Meant returns name unchanged if no tool can be found, or if a tool has exactly
// this name, even a tool that is not offered now.
func (s *Snapshot) Meant(name string) string {
	if _, known := s.Find(name); known || s.Gone(name) != "" {
		return name
	}
	dotted := strings.Replace(name, "__", ".", 1)
	if _, known := s.Find(dotted); known {
		return dotted
	}
	if all := s.bare(name); len(all) == 1 {
		return all[0]
	}
	return name
}

// bare returns the full names (server.tool) of all tools whose part after the server and the dot is
// name.
func (s *Snapshot) bare(name string) (all []string) {
	for _, t := range s.Tools {
		if _, bare, ok := strings.Cut(t.Name, "."); ok && bare == name {
			all = append(all, t.Name)
		}
	}
	return all
}

// near returns up to three names of tools that are similar to name, compared with and without the
// server's part. If some tools have exactly this name after their server's part, near returns only
// those.
func (s *Snapshot) near(name string) []string {
	if all := s.bare(name); len(all) > 0 {
		return all[:min(3, len(all))]
	}
	names := make([]string, 0, len(s.Tools))
	for _, t := range s.Tools {
		names = append(names, t.Name)
	}
	return spelling.Near(name, names, 3, func(name string) string {
		_, bare, _ := strings.Cut(name, ".")
		return bare
	})
}
