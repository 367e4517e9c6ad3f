package admin

import (
	"cmp"
	"encoding/csv"
	"net/http"
	"strconv"

	"toolnorm/internal/fault"
	"toolnorm/internal/usage"
)

// used is how much each caller asked of each model on each day.
type used struct {
	Rows []usage.Row `json:"rows"`
	Kept bool        `json:"kept"` // false: the settings say not to record usage
}

// usages answers with how much each caller asked.
type usages struct{ usage *usage.Usage }

// list answers with the rows of the last days, as JSON or, with as=csv, as a table for other
// programs. Without a record of usage there are no rows. It returns an error if the query parameter
// days or as is wrong, or if the rows cannot be read.
func (u *usages) list(w http.ResponseWriter, r *http.Request) error {
	days, err := strconv.Atoi(cmp.Or(r.FormValue("days"), "30"))
	if err != nil || days < 1 || days > 3650 {
		return fault.Wrong("days", "days must be 1 to 3650")
	}
	all := used{Rows: []usage.Row{}, Kept: u.usage != nil}
	if u.usage != nil {
		if all.Rows, err = u.usage.Rows(r.Context(), days); err != nil {
			return err
		}
	}
	switch r.FormValue("as") {
	case "", "json":
		return write(w, http.StatusOK, all)
	case "csv":
		w.Header().Set("Content-Type", "text/csv; charset=utf-8")
		w.Header().Set("Content-Disposition", `attachment; filename="usage.csv"`)
		return writeTable(w, all.Rows)
	}
	return fault.Wrong("as", "as must be json or csv")
}

// writeTable writes rows as CSV. It always returns nil, because a client that is gone cannot be
// told of an error.
func writeTable(w http.ResponseWriter, rows []usage.Row) error {
	to := csv.NewWriter(w)
	_ = to.Write([]string{"day", "caller", "model", "requests", "failed", "calls", "prompt_tokens",
		"cached_tokens", "completion_tokens"})
	for _, r := range rows {
		line := []string{r.Day, plain(r.Caller), plain(r.Model)}
		for _, n := range []int64{r.Requests, r.Failed, r.Calls, r.Prompt, r.Cached, r.Completion} {
			line = append(line, strconv.FormatInt(n, 10))
		}
		_ = to.Write(line)
	}
	to.Flush()
	return nil
}

// plain returns s with an apostrophe before it if a spreadsheet would take it for a formula. Such
// texts occur because others choose the subjects of JWTs.
func plain(s string) string {
	if s != "" && (s[0] == '=' || s[0] == '+' || s[0] == '-' || s[0] == '@' || s[0] == '\t' ||
		s[0] == '\r') {
		return "'" + s
	}
	return s
}
