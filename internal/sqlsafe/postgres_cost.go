package sqlsafe

import (
	"context"
	"encoding/json"
	"errors"
	"regexp"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
)

// explanation precedes a statement to get the server's plan of it, with estimates.
const explanation = "EXPLAIN (VERBOSE, FORMAT JSON) "

// mostServerFiles is the largest number of bytes that a statement may be expected to sort. Data
// that does not fit into work_mem is written to temporary files, and only a superuser can bound
// those.
const mostServerFiles = 1 << 30

// perValue is how many bytes an aggregate needs for each collected value, in addition to the value
// itself.
const perValue = 32

// unknownRows is how many rows the server expects from a function whose arguments it does not know.
const unknownRows = 1000

// plan is a node of the plan by which the server would run a statement.
type plan struct {
	Node     string   `json:"Node Type"`
	Relation string   `json:"Parent Relationship"`
	Strategy string   `json:"Strategy"`
	Rows     float64  `json:"Plan Rows"`
	Width    float64  `json:"Plan Width"`
	Output   []string `json:"Output"`
	Subplan  string   `json:"Subplan Name"`
	CTE      string   `json:"CTE Name"`
	Plans    []plan   `json:"Plans"`
}

// collects matches an aggregate that stores its values, as a plan shows it. fills matches a
// function whose result has a length that is known only when it is computed.
var (
	collects = regexp.MustCompile(`\b(?:string_agg|array_agg|` +
		`jsonb?_(?:object_)?agg(?:_unique)?(?:_strict)?|JSON_(?:ARRAY|OBJECT)AGG)\(`)
	fills = regexp.MustCompile(`\b(?:repeat|lpad|rpad)\(`)
)

// affordable asks the server for its plan of a statement. It returns a *Refusal if the statement is
// expected to collect or sort too much data, and another error if the server gives no plan. unknown
// reports whether the statement collects rows whose number the server does not know. The argument
// sql is the statement before its names were qualified. The server's estimates may be wrong, so its
// memory is watched as well.
func affordable(
	ctx context.Context, c *pgconn.PgConn, b *bound, send *values, sql string,
) (unknown bool, err error) {
	rows, err := sendPrefixed(ctx, c, explanation+declaration, b, send)
	if err != nil {
		return false, err
	}
	var all []struct {
		Plan plan `json:"Plan"`
	}
	if len(rows) != 1 || len(rows[0]) != 1 || json.Unmarshal(rows[0][0], &all) != nil ||
		len(all) != 1 {
		return false, errors.New("the server's plan of the statement cannot be read")
	}
	e := estimate{widths: map[string]float64{}, arrays: arrayQuery.MatchString(b.text)}
	e.node(&all[0].Plan)
	if e.values > 1 {
		is, err := parse(ctx, asked{SQL: sql, Each: e.values})
		if err != nil {
			return false, err
		}
		e.memory = max(e.memory, is.Widest)
	}
	switch bytes := e.memory; {
	case bytes > mostServerMemory:
		return false, refuse(b.text, -1,
			"the statement would collect about %d MB in the server's memory, "+
				"more than %d; collect fewer rows (WHERE, LIMIT in a subquery) or shorter values",
			megabytes(bytes), mostServerMemory>>20)
	case e.files > mostServerFiles:
		return false, refuse(b.text, -1, "the statement would sort about %d MB, "+
			"more than %d; sort fewer rows or columns", megabytes(e.files), mostServerFiles>>20)
	}
	return e.values > 0 && e.unknown, nil
}

// arrayQuery matches ARRAY(SELECT …), which a plan does not distinguish from other subqueries.
var arrayQuery = regexp.MustCompile(`(?i)\barray\s*\(`)

// megabytes returns a number of bytes in megabytes, for a sentence.
func megabytes(bytes float64) int64 { return int64(min(bytes, 1<<50)) >> 20 }

// estimate is how much memory and temporary files a plan is expected to need, in bytes.
type estimate struct {
	arrays  bool               // the statement contains ARRAY(SELECT …)
	widths  map[string]float64 // the widths of the rows of each part of WITH
	values  float64            // the largest number of values that an aggregate collects
	unknown bool               // a part has an unknown number of rows
	memory  float64
	files   float64
}

// node adds a node of the server's plan and the nodes below it to the estimate, and returns how
// many bytes a row of its result may have. The server counts a computed text as 32 bytes. So the
// length of the expressions that the node computes, which contain the constant texts, is added.
func (e *estimate) node(p *plan) float64 {
	width, below := 0.0, (*plan)(nil)
	for i := range p.Plans {
		one := &p.Plans[i]
		if p.Node == "Limit" && one.Node == "Sort" { // keeps only as many rows as the limit
			one.Rows = min(one.Rows, p.Rows)
		}
		w := e.node(one)
		switch one.Relation {
		case "InitPlan", "SubPlan":
			if e.arrays {
				e.collect(one.Rows, w)
			}
		default:
			width = max(width, w)
			if below == nil {
				below = one
			}
		}
	}
	text := strings.Join(p.Output, ",")
	filled := longestFill * len(fills.FindAllStringIndex(text, -1))
	width = max(width, e.widths[p.CTE], p.Width+float64(len(text)+filled))
	if name, ok := strings.CutPrefix(p.Subplan, "CTE "); ok {
		e.widths[name] = width
	}
	switch {
	case p.Node == "Recursive Union", p.Node == "Function Scan" && p.Rows == unknownRows,
		p.Node == "ProjectSet":
		e.unknown = true
	}
	aggregates := below != nil && (p.Node == "Aggregate" || p.Node == "WindowAgg")
	switch {
	case aggregates && collects.MatchString(text):
		rows := below.Rows
		if p.Strategy == "Sorted" { // groups are computed one after the other
			rows /= max(1, p.Rows)
		}
		e.collect(rows, width)
	case p.Node == "Sort", p.Node == "Recursive Union", p.Node == "Materialize":
		e.files = max(e.files, p.Rows*width)
	}
	return width
}

// collect adds to the estimate that the server keeps rows values in memory at the same time, each
// of the given width in bytes.
func (e *estimate) collect(rows, width float64) {
	e.values = max(e.values, rows)
	e.memory = max(e.memory, rows*(width+perValue))
}
