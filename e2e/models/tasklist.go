package models

import (
	"fmt"
	"regexp"
	"strings"
	"time"
)

// English spells departments that the data has in Korean, as a model may translate them.
var English = map[string]string{"개발": "Development", "인사": "HR", "재무": "Finance", "영업": "Sales",
	"고객지원": "Customer Support",
	"보안":   "Security", "총무": "General Affairs"}

// Tasks returns all tasks for the agent. The first half was used during development. The second
// half was written at the same time but never used then, so its results tell how the agent does on
// new tasks.
func (c *Company) Tasks(now time.Time) []Task {
	first, held := c.built(now), c.held(now)
	for i := range held {
		held[i].Held = true
	}
	return append(first, held...)
}

// department returns a pattern that matches the department of the employee with the given id.
func (c *Company) department(id string) string {
	d := c.people[id].department
	if english := English[d]; english != "" {
		return words(d, english)
	}
	return words(d)
}

// name returns a pattern that matches the name of the employee with the given id.
func (c *Company) name(id string) string { return words(c.people[id].name) }

// built returns the tasks with which the agent loop was developed. They are half of all tasks.
func (c *Company) built(now time.Time) []Task {
	used := func(year int) func(string) float64 {
		return func(id string) float64 { return c.leave[id][year].used }
	}
	earlier, later := c.earlier("EMP001", "EMP002")
	most, least := more("EMP007", "EMP008", func(id string) float64 { return c.left(id, 2025) })
	busy, idle := more("EMP013", "EMP016", used(2025))
	return []Task{
		one(1, "How many vacation days has employee EMP001 left in 2025?",
			number(c.left("EMP001", 2025))),
		one(1, "How many vacation days did EMP003 use in 2025?",
			number(c.leave["EMP003"][2025].used)),
		one(1, "How many vacation days did EMP004 get in total for 2026?",
			number(c.leave["EMP004"][2026].total)),
		one(1, "In which department does employee EMP014 work?", c.department("EMP014")),
		one(1, "What is the name of employee EMP016?", c.name("EMP016")),
		one(1, "When was EMP007 hired?", date(c.people["EMP007"].hired)),
		one(1, "How many days has EMP013 been employed here?", days(c.people["EMP013"].hired, now)),
		one(1, "List the names of all employees.", c.listed()...),
		one(1, "How many employees are there?", number(float64(len(c.people)))),
		one(1, "What is the employee id of Grace Kim?", words("EMP019")),
		one(1, "EMP005는 2025년에 남은 연차가 며칠인가요?", `(?:^|[^\d.,])4\.5\s*일`),
		one(1, "How many days a week may I work from home?", `(?:^|\W)(?:2|two)\W+days`),
		one(1, "Answer yes or no: does EMP001 have more than 10 vacation days left in 2025?",
			yes(c.left("EMP001", 2025) > 10)),
		c.winner("Who was hired earlier, EMP001 or EMP002?", earlier, later),
		c.winner("Who has more vacation days left in 2025, EMP007 or EMP008?", most, least),
		c.winner("Which of EMP013 and EMP016 used more vacation days in 2025?", busy, idle),
		one(2, "What are the names of EMP020 and EMP021?", c.name("EMP020"), c.name("EMP021")),
		one(2, "In which department does Ivan Novák work?", c.department("EMP022")),
		one(2,
			"When was EMP018 hired, and how many vacation days does this employee have left in 2026?",
			date(c.people["EMP018"].hired), number(c.left("EMP018", 2026))),
		one(3,
			"How many vacation days do EMP001, EMP002 and EMP003 have left in 2024? Give the number for each.",
			number(c.left("EMP001", 2024)), number(c.left("EMP002", 2024)),
			number(c.left("EMP003", 2024))),
		one(0, "Hello! How are you?", `\p{L}`),
		one(0, "What is 17 plus 25?", number(42)),
		one(0, "Translate 'good morning' to French.", "bonjour|bon matin"),
		one(0, "What is the capital of Italy?", "Rome"),
		one(0, "Thanks, that was all I needed.", `\p{L}`),
	}
}

// held returns the tasks that are reported: those with which the agent loop was not developed. They
// are half of all tasks.
func (c *Company) held(now time.Time) []Task {
	first, later := c.earlier("EMP012", "EMP004")
	most, least := more("EMP020", "EMP021", func(id string) float64 { return c.left(id, 2026) })
	long, short := c.earlier("EMP009", "EMP010")
	p := func(id string) person { return c.people[id] }
	return []Task{
		one(1, "How much annual leave is left for EMP009 in 2026?", number(c.left("EMP009", 2026))),
		one(1, "How many days of vacation has EMP011 already taken in 2024?",
			number(c.leave["EMP011"][2024].used)),
		one(1, "What is the total number of vacation days of EMP023 in 2025?",
			number(c.leave["EMP023"][2025].total)),
		one(1, "Which department is EMP017 in?", c.department("EMP017")),
		one(1, "Who is EMP015?", c.name("EMP015")),
		one(1, "On which date did EMP022 join the company?", date(p("EMP022").hired)),
		one(1, "For how many days has EMP019 worked for us?", days(p("EMP019").hired, now)),
		one(1, "Who works here? Give me everybody's name.", c.listed()...),
		one(1, "Count the employees of the company.", number(float64(len(c.people)))),
		one(1, "Which employee id belongs to Bernd Müller?", words("EMP014")),
		one(1, "EMP010의 이름은 무엇인가요?", c.name("EMP010")),
		one(1, "How much may a hotel cost per night on a business trip?", number(140)+`|120,?000`),
		one(1, "Answer yes or no: was EMP024 hired before 2020?", yes(p("EMP024").hired < "2020")),
		c.winner("Which of the two joined first, EMP012 or EMP004?", first, later),
		c.winner("EMP020 or EMP021: who has more days of leave left in 2026?", most, least),
		c.winner("Who has been with the company longer, EMP009 or EMP010?", long, short),
		one(2, "Tell me the departments of EMP008 and EMP011.", c.department("EMP008"),
			c.department("EMP011")),
		one(2, "When was Julia Schneider hired?", date(p("EMP023").hired)),
		one(2,
			"What is the name of EMP006, and how many vacation days did this person use in 2025?",
			c.name("EMP006"), number(c.leave["EMP006"][2025].used)),
		one(3, "Give me the dates on which EMP014, EMP016 and EMP018 were hired.",
			date(p("EMP014").hired), date(p("EMP016").hired), date(p("EMP018").hired)),
		one(0, "Hi there!", `\p{L}`),
		one(0, "What is 12 times 8?", number(96)),
		one(0, "How do you say 'thank you' in German?", "danke|vielen dank"),
		one(0, "Name the largest ocean of the world.", "pacific"),
		one(0, "Write two lines of a poem about autumn.",
			`\p{L}[^\n]*\n+[^\n]*\p{L}|\p{L}.*/.*\p{L}`),
	}
}

// Tried is the result of one task: what the agent answered, and what is wrong with that.
type Tried struct {
	Task    Task
	Text    string
	Ran     []string // calls, as the reply's thoughts show them
	Why     string   // what is wrong; empty: nothing
	Seconds float64
}

// What may be wrong with an answer whatever it says.
const (
	Blank = "blank"
	Bare  = "a bare call"
)

// toolNames are the sample company's tools, of which no answer to a task speaks.
var toolNames = regexp.MustCompile(
	`calculate_vacation_days|get_employee_info|get_all_employees|search_docs`)

// Mark judges an answer of the agent to the task. It returns the answer's text, the calls that the
// agent made, and what is wrong with the answer, if anything.
func (t *Task) Mark(a Answer) Tried {
	out := Tried{Task: *t, Text: a.Text, Seconds: a.Seconds}
	for line := range strings.Lines(a.Reasoning) {
		line = strings.TrimSpace(line)
		if name, args, ok := strings.Cut(strings.Trim(line, "[]"), " "); ok &&
			strings.HasPrefix(line, "[") && strings.HasPrefix(args, "{") {
			out.Ran = append(out.Ran, name+" "+args)
		}
	}
	text := strings.TrimSpace(a.Text)
	switch {
	case a.Error != "":
		out.Why = a.Error
	case text == "":
		out.Why = Blank
	case strings.HasPrefix(strings.TrimLeft(text, "`json \n"), "{"):
		out.Why = Bare
	case toolNames.MatchString(text):
		out.Why = "advice to use a tool"
	case t.Steps == 0 && len(out.Ran) > 0 && len(t.Want) == 1 && t.Want[0].String() == `(?i)\p{L}`:
		out.Why = "a tool for small talk"
	case !t.Right(text):
		out.Why = "wrong"
	}
	return out
}

// String returns the task's line of a report.
func (t Tried) String() string {
	return fmt.Sprintf("%s → %q %s", t.Task.Text, t.Text, strings.Join(t.Ran, "; "))
}
