package family

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"toolnorm/adapters"
	"toolnorm/chat"
)

// Stretch is a part of a text, as byte offsets.
type Stretch struct {
	From int `json:"from"`
	To   int `json:"to"`
}

// of reports whether s is not empty and lies inside the given text.
func (s Stretch) of(text string) bool { return 0 <= s.From && s.From < s.To && s.To <= len(text) }

// FromMarked returns the text of a file that declares how a family of models writes calls. It makes
// the file from one reply in which a person has marked the name and the arguments of a call; Learn
// needs no marks. If the arguments as marked contain the name, they are the whole call. If toolnorm
// can read the reply already, the file only refers to the family by which it does. The new family
// is called format, and is for models whose names begin with the parameter model. FromMarked fails
// if a mark is outside of the text, or no declaration reads the call.
func FromMarked(format, model string, set *adapters.Set, r Reply, name, args Stretch) (
	file string, questions []string, err error) {
	if !name.of(r.Raw) || !args.of(r.Raw) {
		return "", nil, errors.New("the name and the arguments must be marked in the text")
	}
	tool := r.Raw[name.From:name.To]
	if !slices.ContainsFunc(r.Tools, func(t chat.Tool) bool { return t.Name == tool }) {
		r.Tools = append(slices.Clone(r.Tools), chat.Tool{Name: tool})
	}
	if best, _ := bestReader(set, []Reply{r}); best != nil {
		return learnFor(format, model, set, r)
	}
	p, err := placeAt(r.Raw, name, args)
	if err != nil {
		return "", nil, err
	}
	line := lineOf([]place{p})
	if !reads(set, line, r) {
		// the call is not JSON
		if file, questions, err := learnFor(format, model, set, r); err == nil {
			return file, questions, nil
		}
		return "", nil, fmt.Errorf("no declaration reads this as a call of %s; tried: %s", tool,
			strings.TrimSpace(line))
	}
	lines := fmt.Sprintf(
		"# Learned from one reply with a marked call; to be read by someone who knows the model.\nformat  %s\nmodels  %s*\n%s", format, model, line)
	f, err := set.Parse([]byte(lines))
	if err != nil {
		return "", nil, fmt.Errorf("%w\n%s", err, lines)
	}
	questions = []string{
		"is all of it the mark? One reply does not show what is the same in every call: " +
			strings.TrimSpace(line)}
	return lines + learnedCases(f, []Reply{r}), questions, nil
}

// learnFor returns what Learn makes from a single reply, for a family with the name format. In the
// file, the line "models" has a pattern of the model's name, such as "my-model*", in place of one
// of the family's name. It fails if Learn does.
func learnFor(format, model string, set *adapters.Set, r Reply) (
	file string, questions []string, err error) {
	file, questions, err = Learn(format, set, []Reply{r})
	return strings.Replace(file, "\nmodels  "+format+"*\n", "\nmodels  "+model+"*\n", 1), questions,
		err
}

// placeAt returns the texts around and between the name and the arguments of a call. It fails
// unless the arguments are a JSON object that follows or encloses the name.
func placeAt(raw string, name, args Stretch) (p place, err error) {
	if n := objectAt(raw[args.From:args.To]); n == 0 ||
		strings.TrimSpace(raw[args.From+n:args.To]) != "" {
		return p, errors.New(
			"the arguments that are marked are no JSON object; mark them from { to }")
	}
	switch {
	case args.From <= name.From && name.To <= args.To:
		return place{"{call}", raw[:args.From], "", raw[args.To:]}, nil
	case name.To <= args.From:
		return place{"{name}{json}", raw[:name.From], raw[name.To:args.From], raw[args.To:]}, nil
	case args.To <= name.From:
		return p, errors.New(
			"the arguments stand in front of the name, which no declaration can say")
	}
	return p, errors.New("the name and the arguments overlap")
}
