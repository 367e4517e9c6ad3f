package sqlsafe

import (
	"errors"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
)

// Kind is the kind of a database, which decides how a statement is tokenized. For example, if an
// E'…' were read as a plain text, it would end at another quote, and SQL after it would be taken
// for text.
type Kind uint8

// The kinds of database. Each comment says what is special about the kind's tokens.
const (
	SQLite     Kind = iota // `…` and […] are names
	PostgreSQL             // $$…$$ and $tag$…$tag$ are texts, E'…' takes backslashes, comments nest
)

// Parameter is a parameter, such as :name, at one place in a statement. A value is bound to it when
// the statement is run.
type Parameter struct {
	Name string
	At   int // the offset of the colon
}

// parameterName matches the name of a parameter: a word that both databases, JSON Schema and Python
// accept.
var parameterName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// Parameters returns the parameters of a statement, written :name, in order. A parameter that is
// used twice is listed twice. Colons in texts, quoted names and comments do not count. Casts
// (now()::date) and slices of arrays (a[1:n]) do not count either. The error is a *Refusal for an
// invalid name, and for other ways to write parameters ($1, ?, @name), because they name no value
// to bind.
func (k Kind) Parameters(sql string) ([]Parameter, error) {
	if r := readable(sql); r != nil {
		return nil, r
	}
	sql = k.plain(sql)
	all := k.tokens(sql)
	var found []Parameter
	for i, t := range all {
		next := ""
		if i+1 < len(all) && all[i+1].at == t.at+len(t.text) {
			next = all[i+1].text
		}
		switch {
		case k == SQLite && t.text == "?", t.text == "$" && next != "",
			k == SQLite && t.text == "@":
			return nil, refuse(sql, t.at,
				"%s is not how parameters are written here; write a colon and the name, as :user_name", t.text+next)
		case t.text != ":" || next == "" || !wordByte(next[0]):
		case k == PostgreSQL && (next[0] >= '0' && next[0] <= '9' || k.slice(sql, t.at)):
		case !parameterName.MatchString(next):
			return nil, refuse(sql, t.at,
				"a parameter cannot be called %q; letters of a to z, digits and _ can be in a name",
				next)
		case k == SQLite && i+2 < len(all) && all[i+2].at == t.at+1+len(next) &&
			(all[i+2].text == "::" || all[i+2].text == "("):
			// SQLite reads :name::text and :name(…) as names of Tcl variables.
			return nil, refuse(sql, all[i+2].at,
				"SQLite has no %s behind a parameter; write CAST(:%s AS …)", all[i+2].text, next)
		default:
			found = append(found, Parameter{next, t.at})
		}
	}
	return found, nil
}

// slice reports whether a colon belongs to the slice of an array, as in a[1:n] or a[f(x):n]. It
// does if it directly follows the lower bound, without a space. The rule also covers the third
// colon of :::, which has no meaning. SQLAlchemy's text() has the same rule. In a[1 :n] the colon
// is taken for that of a parameter n, which leads to an error that names n, and not to a wrong
// value.
func (k Kind) slice(sql string, at int) bool {
	return at > 0 && (wordByte(sql[at-1]) || strings.IndexByte(`])"':`, sql[at-1]) >= 0)
}

// braces matches {{name}} at the beginning of a text. Editors of other products write parameters
// like this.
var braces = regexp.MustCompile(`^\{\{\s*([A-Za-z_][A-Za-z0-9_]*)\s*\}\}`)

// Braces rewrites {{name}} as the parameter :name. People know braces from other editors, which
// replace them with the value. Leaving them would cause a syntax error that explains nothing.
// Braces in comments stay. Braces inside quotes cause a *Refusal, because the author wants the
// value to be inserted into the text, and values are only ever bound. Malformed braces cause a
// *Refusal as well.
func (k Kind) Braces(sql string) (string, error) {
	if r := readable(sql); r != nil {
		return "", r
	}
	sql = k.plain(sql)
	var b strings.Builder
	done := 0
	for i := 0; i < len(sql); {
		n, blank := k.next(sql[i:])
		inside := strings.Index(sql[i:i+n], "{{")
		switch {
		case n > 1 && !blank && inside >= 0:
			return "", refuse(sql, i+inside,
				"{{…}} stands inside of quotes; a value is bound and never part of a text: leave the quotes out, or join texts by ||")
		case sql[i] == '{':
			if m := braces.FindStringSubmatch(sql[i:]); m != nil {
				b.WriteString(sql[done:i])
				if i > 0 && wordByte(sql[i-1]) {
					b.WriteByte(' ') // SELECT{{a}}
				}
				b.WriteString(":" + m[1])
				n = len(m[0])
				if done = i + n; done < len(sql) && wordByte(sql[done]) {
					b.WriteByte(' ') // {{a}}FROM
				}
			} else if strings.HasPrefix(sql[i:], "{{") {
				return "", refuse(sql, i, "a parameter in braces is {{name}}, and this is none")
			}
		}
		i += n
	}
	return b.String() + sql[done:], nil
}

// Lists rewrites IN (:name), for parameters for which the function list returns true, as = ANY
// (:name) for PostgreSQL or as IN (SELECT value FROM json_each(:name)) for SQLite. A list is bound
// as one value, which IN would compare as a whole.
func (k Kind) Lists(sql string, list func(name string) bool) string {
	all := k.tokens(sql)
	word := func(i int) string {
		if i < 0 || i >= len(all) {
			return ""
		}
		return strings.ToUpper(all[i].text)
	}
	var b strings.Builder
	done := 0
	for i := range all {
		name, behind := i+2, 0 // IN :name, which neither database has
		if word(i+1) == "(" {
			name, behind = i+3, 1
		}
		if word(i) != "IN" || word(name-1) != ":" || word(name) == "" ||
			behind > 0 && word(name+1) != ")" || !list(all[name].text) {
			continue
		}
		from, last, text := all[i].at, all[name+behind], "= ANY (:"+all[name].text+")"
		switch {
		case k == SQLite:
			text = "IN (SELECT value FROM json_each(:" + all[name].text + "))"
		case word(i-1) == "NOT":
			from, text = all[i-1].at, "<> ALL (:"+all[name].text+")"
		}
		b.WriteString(sql[done:from] + text)
		done = last.at + len(last.text)
	}
	return b.String() + sql[done:]
}

// Quoted returns the offset of the first :name inside quotes, where no value is bound to it, or -1
// if there is none. The cast ::name inside quotes is ignored.
func (k Kind) Quoted(sql, name string) int {
	for i := 0; i < len(sql); {
		n, blank := k.next(sql[i:])
		for at := i + 1; !blank && at < i+n; at++ {
			rest, is := strings.CutPrefix(sql[at:i+n], ":"+name)
			if is && sql[at-1] != ':' && (rest == "" || !wordByte(rest[0])) {
				return at
			}
		}
		i += n
	}
	return -1
}

// bound is a statement whose parameters are rewritten in PostgreSQL's form, $1 to $n.
type bound struct {
	sql   string   // the statement as it was written
	text  string   // the statement as PostgreSQL gets it
	names []string // the names of $1, $2, …; a name that is also tested for NULL has two numbers
	// for each number: whether it is only tested for NULL, and may therefore have any type
	tests []bool
	marks []mark // in the order of their places

	// maps types of arrays that are not built in to the types of their elements
	arrays map[uint32]uint32
}

// mark is a place at which a part of a statement was replaced. It maps offsets in the new text,
// bound.text, to offsets in the old one, bound.sql.
type mark struct {
	at, was int // the offset after the replacement in text, and after the replaced part in sql
	length  int // the length of the replaced part, in sql
}

// bind rewrites :name as $n. All uses of a name have the same number, because PostgreSQL then
// derives one type for it. In :name IS NULL the name has another number, since a test for NULL
// determines no type. The error is a *Refusal, as in Parameters. The new text must pass the whole
// check (Postgres.check) like any other, so the rewriting need not be trusted.
func bind(sql string) (*bound, error) {
	found, err := PostgreSQL.Parameters(sql)
	if err != nil {
		return nil, err
	}
	type number struct {
		name string
		test bool
	}
	b, numbers, done := &bound{sql: sql}, map[number]int{}, 0
	all := PostgreSQL.tokens(sql)
	var text strings.Builder
	for _, p := range found {
		one := number{p.Name, nullTest(all, p)}
		if numbers[one] == 0 {
			b.names, b.tests = append(b.names, p.Name), append(b.tests, one.test)
			numbers[one] = len(b.names)
		}
		text.WriteString(sql[done:p.At])
		text.WriteString("$" + strconv.Itoa(numbers[one]))
		done = p.At + 1 + len(p.Name)
		b.marks = append(b.marks, mark{text.Len(), done, done - p.At})
	}
	text.WriteString(sql[done:])
	b.text = text.String()
	return b, nil
}

// nullTest reports whether IS NULL or IS NOT NULL follows a parameter.
func nullTest(all []token, p Parameter) bool {
	behind := slices.IndexFunc(all, func(t token) bool { return t.at > p.At+1 })
	if behind < 0 {
		return false
	}
	var words []string
	for _, t := range all[behind:min(behind+3, len(all))] {
		words = append(words, strings.ToUpper(t.text))
	}
	text := strings.Join(words, " ")
	return strings.HasPrefix(text, "IS NULL") || text == "IS NOT NULL"
}

// was returns the offset in the statement as it was written, for the offset at in the statement as
// PostgreSQL gets it. An offset inside a parameter becomes the offset of its beginning.
func (b *bound) was(at int) int {
	last := mark{}
	for _, m := range b.marks {
		if m.at > at {
			return min(last.was+at-last.at, m.was-m.length)
		}
		last = m
	}
	return last.was + at - last.at
}

// parameterNumber matches a parameter such as $1 in a message of the server.
var parameterNumber = regexp.MustCompile(`\$[0-9]+`)

// told translates an error about the statement in the form that PostgreSQL gets. The result is
// about the statement as it was written, with positions in it and names of parameters: the author
// never wrote $1. Other errors are returned unchanged.
func (b *bound) told(err error) error {
	var refused *Refusal
	if errors.As(err, &refused) {
		r := refuse(b.sql, -1, "%s", b.named(refused.Why))
		r.Code = refused.Code
		if refused.Offset >= 0 {
			r.Offset = b.was(refused.Offset)
		}
		return r
	}
	var said *pgconn.PgError
	if errors.As(err, &said) {
		copied := *said
		copied.Message = b.named(said.Message)
		if said.Position > 0 {
			before := b.sql[:min(b.was(byteOffset(b.text, int(said.Position)-1)), len(b.sql))]
			copied.Position = int32(len([]rune(before)) + 1)
		}
		return &copied
	}
	return err
}

// named replaces each $n in a sentence with the name of the parameter.
func (b *bound) named(text string) string {
	return parameterNumber.ReplaceAllStringFunc(text, func(s string) string {
		if n, err := strconv.Atoi(s[1:]); err == nil && n >= 1 && n <= len(b.names) {
			return ":" + b.names[n-1]
		}
		return s
	})
}
