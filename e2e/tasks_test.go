package e2e

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"toolnorm/e2e/models"
	"toolnorm/internal/test/must"
)

const tasksHead = `# Fifty tasks for a small model's agent

Written by ` + "`make tasks`" + `; do not edit. Qwen2.5-Coder-1.5B in a real Ollama (one thread), asked as ` + "`qwen2.5-coder:1.5b@agent`" + ` through a
toolnorm without settings but longer limits of time, with the tools of the sample company. Temperature 0, no system text, one question a conversation.

The tasks are in ` + "`e2e/models/tasklist.go`" + `; what their answers must hold is computed from the company's data. The loop was built on the first
half. The second was written at the same time, and was not looked at until 2026-11-24; the changes of that day were made with both halves in view,
so that no half is held out any more. Some answers are right by their words alone, without the lookup that shows it.

Machine: %s.
Versions: %s.
Revision: %s. Load average at the end: %.0f.

| calls that lead to the answer | first half | second half |
|---|--:|--:|
`

// patient are limits that a busy machine does not reach: an answer must not depend on what else
// runs.
var patient = []string{"--agent-time", "3h", "--load-timeout", "1h", "--first-byte-timeout", "2h", "--idle-timeout", "1h"}

// TestTasks has a real model's agent answer fifty questions, and writes the page.
// TOOLNORM_E2E_TASKS names the half: built, held or all. It takes most of an hour, and a model's
// mistakes fail nothing.
func TestTasks(t *testing.T) {
	half := os.Getenv("TOOLNORM_E2E_TASKS")
	if half == "" {
		t.Skip("a real model's agent is measured by make tasks only: it takes most of an hour")
	}
	company := must.Have(models.ReadCompany("../tools/company/seed"))(t)
	m := openModels(t)
	m.create(t, realModels[0])
	base := m.fresh(t, patient...)
	var tried []models.Tried
	for _, task := range company.Tasks(time.Now()) {
		if half == "built" && task.Held || half == "held" && !task.Held {
			continue
		}
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Hour)
		one := task.Mark(models.Ask(ctx, base, realModels[0].name+"@agent", task.Text, nil))
		cancel()
		t.Logf("%5.1f s %s: %s", one.Seconds, one.Why, one)
		tried = append(tried, one)
	}
	if half != "all" {
		t.Logf("%s", tasksTable(tried))
		return
	}
	page := fmt.Sprintf(tasksHead, m.report.Machine, m.report.Versions, models.Revision(), models.Load()) + tasksTable(tried)
	must.Write(t, "../docs/evidence/tasks.md", page)
}

// tasksTable counts right answers by the steps of the task, and lists those that are wrong.
func tasksTable(tried []models.Tried) string {
	var b, wrong strings.Builder
	count := func(which func(models.Tried) bool) string {
		right, all := [2]int{}, [2]int{}
		for _, one := range tried {
			half := 0
			if one.Task.Held {
				half = 1
			}
			if which(one) {
				all[half]++
				if one.Why == "" {
					right[half]++
				}
			}
		}
		return fmt.Sprintf("%d of %d | %d of %d |\n", right[0], all[0], right[1], all[1])
	}
	for steps, name := range []string{"none", "one", "two", "three"} {
		b.WriteString("| " + name + " | " + count(func(one models.Tried) bool { return one.Task.Steps == steps }))
	}
	b.WriteString("| all | " + count(func(models.Tried) bool { return true }))
	blank, bare := 0, 0
	for _, one := range tried {
		switch one.Why {
		case "":
			continue
		case models.Blank:
			blank++
		case models.Bare:
			bare++
		}
		fmt.Fprintf(&wrong, "- %s (%s) → %s", one.Task.Text, one.Why, strings.Join(strings.Fields(one.Text), " "))
		for _, call := range one.Ran {
			fmt.Fprintf(&wrong, " `%s`", call)
		}
		wrong.WriteString("\n")
	}
	return b.String() + fmt.Sprintf("\nBlank answers: %d. Answers that are only a call: %d.\n\nWhat was wrong, with the calls that ran:\n\n%s", blank, bare, wrong.String())
}
