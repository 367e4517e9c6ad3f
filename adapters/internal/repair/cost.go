package repair

// Costs of slips. A likely slip costs less than an unlikely one, and evidence makes it cheaper
// still. What is a habit of the writer, such as single quotes, costs once for the whole text.
const (
	slip    = 10 // a sign of structure left out, one too many, or another one in its place
	likely  = 8  // one that what stands around it speaks for
	habit   = 6  // the first of many alike: another language's quotes, bare keys, comments
	small   = 4  // what hardly can mean anything else: a trailing comma, True for true
	trifle  = 2  // a line break in a string
	strange = 8  // a member that the schema does not list, where it lists some
	odd     = 6  // what no text has: one quotation mark without its partner
)

// Most is the highest cost of a reading, Margin how far ahead of every other value the best one
// must be.
const (
	Most   = 40
	Margin = 5
)
