package models

import (
	"encoding/csv"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Task is a question for the agent, with what its answer must hold.
type Task struct {
	Held  bool // of the half that is reported, which nothing is built on
	Steps int  // calls that lead to the answer
	Text  string
	Want  []*regexp.Regexp // each must match
	Not   *regexp.Regexp   // must not match; nil: anything may stand there
}

// Company is the data that the sample company's tools answer from.
type Company struct {
	people map[string]person
	leave  map[string]map[int]leave
}

type person struct{ name, department, hired string }

type leave struct{ total, used float64 }

// ReadCompany reads the rows of the sample company.
func ReadCompany(dir string) (*Company, error) {
	c := &Company{people: map[string]person{}, leave: map[string]map[int]leave{}}
	people, err := rows(filepath.Join(dir, "employees.csv"))
	if err != nil {
		return nil, err
	}
	for _, r := range people {
		c.people[r[0]] = person{r[1], r[2], r[3]}
		c.leave[r[0]] = map[int]leave{}
	}
	years, err := rows(filepath.Join(dir, "vacations.csv"))
	if err != nil {
		return nil, err
	}
	for _, r := range years {
		year, err1 := strconv.Atoi(r[1])
		total, err2 := strconv.ParseFloat(r[2], 64)
		used, err3 := strconv.ParseFloat(r[3], 64)
		if err1 != nil || err2 != nil || err3 != nil || c.leave[r[0]] == nil {
			return nil, fmt.Errorf("vacations.csv: %q is no row of it", r)
		}
		c.leave[r[0]][year] = leave{total, used}
	}
	return c, nil
}

// rows returns the rows of a CSV file without its first row, which has the column names. It fails
// if the file cannot be read or is empty.
func rows(file string) ([][]string, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	all, err := csv.NewReader(f).ReadAll()
	if err != nil || len(all) == 0 {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return all[1:], nil
}

// Right reports whether a text answers the task.
func (t Task) Right(text string) bool {
	for _, want := range t.Want {
		if !want.MatchString(text) {
			return false
		}
	}
	return strings.TrimSpace(text) != "" && (t.Not == nil || !t.Not.MatchString(text))
}

// number returns a pattern that matches the number n, unless it is a part of another number.
func number(n float64) string {
	text := regexp.QuoteMeta(strconv.FormatFloat(n, 'f', -1, 64))
	if n == float64(int(n)) {
		text += `(?:\.0+)?`
	}
	return `(?:^|[^\d.,-])` + text + `(?:$|[^\d.,]|[.,](?:\D|$))`
}

// words returns a pattern that matches each of the texts, unless a letter or digit is directly
// before or after it.
func words(all ...string) string {
	for i, text := range all {
		all[i] = regexp.QuoteMeta(text)
	}
	return `(?:^|[^\p{L}\d])(?:` + strings.Join(all, "|") + `)(?:$|[^a-zA-Z\d])`
}

// date returns a pattern that matches a day in the forms in which people write it. The parameter
// text has the day as the data has it.
func date(text string) string {
	d := mustDay(text)
	return words(text, d.Format("January 2, 2006"), d.Format("January 2 2006"), d.Format(
		"2 January 2006"), d.Format("Jan 2, 2006"),
		d.Format("January 2nd, 2006"), d.Format("January 1st, 2006"), d.Format("January 3rd, 2006"),
		d.Format("January 2th, 2006"), d.Format("2006년 1월 2일"))
}

// mustDay parses a date of the sample data. It panics if the date is invalid, which would be a
// mistake in this program's own data.
func mustDay(text string) time.Time {
	d, err := time.Parse(time.DateOnly, text)
	if err != nil {
		panic(err)
	}
	return d
}

// days returns a regular expression for the number of days from the date since until now. It also
// accepts one day less, because midnight may pass while the model writes. It panics if since is not
// a date.
func days(since string, now time.Time) string {
	d := mustDay(since)
	today := time.Date(now.Year(), now.Month(), now.Day(), 0, 0, 0, 0, time.UTC)
	n := int(today.Sub(d).Hours() / 24)
	one := func(n int) string {
		text := strconv.Itoa(n)
		if n >= 1000 {
			text = text[:len(text)-3] + ",?" + text[len(text)-3:]
		}
		return `(?:^|[^\d.,])` + text + `(?:$|[^\d])`
	}
	return one(n) + "|" + one(n-1)
}

// yes returns a regular expression for an answer in English or Korean. The answer must begin with
// yes if the parameter so is true, and with no if it is false.
func yes(so bool) string {
	if so {
		return `^\W*(?:yes|네|예)(?:$|\W)`
	}
	return `^\W*(?:no|아니)`
}

// left returns the days of leave that are left of a year.
func (c *Company) left(id string, year int) float64 {
	l := c.leave[id][year]
	return l.total - l.used
}

// one returns a task with the given text. Its answer takes the given number of tool calls, and must
// match all the regular expressions in want, without regard to case.
func one(steps int, text string, want ...string) Task {
	t := Task{Steps: steps, Text: text}
	for _, w := range want {
		t.Want = append(t.Want, regexp.MustCompile(`(?i)`+w))
	}
	return t
}

// winner returns a task with the given text about two people, whose ids are winner and loser. A
// right answer names the winner, and does not name the loser before the winner.
func (c *Company) winner(text, winner, loser string) Task {
	w, l := words(winner, c.people[winner].name), words(loser, c.people[loser].name)
	t := one(2, text, w)
	// "A did, before B" is right; what names the other in front is not, nor are both as equals.
	t.Not = regexp.MustCompile(`(?is)^(?:[^.]*?` + l + `.*?` + w + `)|both|same`)
	return t
}

// more compares two people by the function of. It returns the id of the one with the larger value
// as winner, and the other id as loser.
func more(a, b string, of func(string) float64) (winner, loser string) {
	if of(a) > of(b) {
		return a, b
	}
	return b, a
}

// earlier returns as winner the id of the person who was hired first, and as loser the other id.
func (c *Company) earlier(a, b string) (winner, loser string) {
	if c.people[a].hired < c.people[b].hired {
		return a, b
	}
	return b, a
}

// listed returns one pattern for each person of the company, which matches the person's name. A
// right answer matches all of them.
func (c *Company) listed() (want []string) {
	for _, p := range c.people {
		want = append(want, words(p.name))
	}
	return want
}
