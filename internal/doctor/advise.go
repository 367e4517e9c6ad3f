package doctor

import (
	"fmt"
	"slices"
	"strings"

	"toolnorm/engine"
)

// advise adds a verdict on the model's calls to the report, and the settings to recommend. Four of
// five right answers are enough for a good verdict, since with few questions one miss may be
// chance. There is no verdict if toolnorm's way of calling was not tried with all questions. The
// questions show what cannot work; they do not rank models.
func (x *examination) advise() {
	taken, best := x.pick()
	if taken == nil || taken.Calls == 0 || taken.Asked < len(x.cfg.Questions) {
		return
	}
	score := fmt.Sprintf("%d of %d calls right by %s", taken.Arguments, taken.Calls, taken.title())
	if taken.Tools > taken.Arguments {
		score += fmt.Sprintf("; in %d more the tool was right and its arguments were not",
			taken.Tools-taken.Arguments)
	}
	switch {
	case best != taken:
		x.finding(Problem, "tools", score+fmt.Sprintf(", %d by %s", best.Arguments, best.title()),
			"set it as below")
	case taken.Arguments*5 >= taken.Calls*4:
		x.finding(OK, "tools", score, "")
	case taken.Arguments*2 >= taken.Calls:
		x.finding(Note, "tools", score+": the model is unsure with tools",
			"few tools with clear descriptions help; a larger model helps more")
	default:
		x.finding(Problem, "tools", fmt.Sprintf("too weak for tools: %s", score),
			"no strategy helps; use a larger model")
	}
	if own := x.named(serverWay); own != nil && own.Asked > 0 && taken.Name != engine.Prompt &&
		own.Arguments < taken.Arguments {
		x.finding(Note, "parser", fmt.Sprintf("the server's own parser recognised %d of %d calls",
			own.Arguments, own.Calls), fmt.Sprintf("toolnorm recognised %d", taken.Arguments))
	}
	x.m.Chatter.finding(x)
	if best.Arguments*2 >= best.Calls {
		x.m.Settings = x.settings(best, best == taken)
	}
}

// pick returns the way of calling that toolnorm uses, and the best way. Both are nil if the way in
// use was not tried. Another way is the best one only if it has at least half right and clearly
// more than the way in use: two more, or one more if the way in use has less than half right. A
// difference of one question is noise.
func (x *examination) pick() (taken, best *Way) {
	for i := range x.m.Ways {
		if x.m.Ways[i].Taken {
			taken = &x.m.Ways[i]
		}
	}
	if taken == nil {
		return nil, nil
	}
	best = taken
	for i := range x.m.Ways {
		w := &x.m.Ways[i]
		clearly := w.Arguments >= best.Arguments+2 || w.Arguments > best.Arguments &&
			taken.Arguments*2 < taken.Calls
		if w.Name != serverWay && w.Note == "" && clearly && w.Arguments*2 >= w.Calls {
			best = w
		}
	}
	return taken, best
}

// named returns the result for the way of calling with the given name, or nil if that way was not
// tried.
func (x *examination) named(name string) *Way {
	i := slices.IndexFunc(x.m.Ways, func(w Way) bool { return w.Name == name })
	if i < 0 {
		return nil
	}
	return &x.m.Ways[i]
}

// title returns the name of the way of calling. If the field Wording, which says how a prompt
// describes the tools, is set, it follows in brackets.
func (w Way) title() string {
	if w.Wording != "" {
		return w.Name + " (" + w.Wording + ")"
	}
	return w.Name
}

// settings returns lines for the settings file that select the way of calling in the parameter
// best. If asItIs is true, toolnorm already uses that way. settings must not be called for a model
// that is bad in every way, since the lines would look like a cure.
func (x *examination) settings(best *Way, asItIs bool) string {
	var b strings.Builder
	if asItIs {
		b.WriteString("# toolnorm does this by itself; the lines keep it so\n")
	} else {
		b.WriteString("# better than what toolnorm does by itself\n")
	}
	name := x.called(x.on, x.m.Model)
	fmt.Fprintf(&b, "format: {%q: %s}\nstrategy: {%q: %s}\n", name, x.m.Format, name, best.Name)
	if best.Name == engine.Prompt && best.Wording != "" {
		fmt.Fprintf(&b, "wording: {%q: %s}\n", name, best.Wording)
	}
	if x.m.Chatter.helps() {
		fmt.Fprintf(&b, "ask-before-tools: {%q: always}\n", name)
	}
	return b.String()
}
