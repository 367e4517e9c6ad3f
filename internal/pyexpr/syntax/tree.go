package syntax

// Node is a part of the tree: a pointer to one of the types below. The tree is data; what it comes
// to is the evaluator's work.
type Node any

type (
	// Const is a literal: nil, a bool, an int64 or a *big.Int, a float64 or a string.
	Const struct{ Value any }
	// Name is a variable, Hops frames out and there in Slot. One that no scope in the source binds
	// is one of the free names of the Tree, and its slot is for the caller to choose.
	Name struct {
		Name            string
		Pos, Hops, Slot int
	}
	// Not is the operator `not`.
	Not struct{ X Node }
	// Logic is `and` or `or`: it gives an operand, not a bool.
	Logic struct {
		Or          bool
		Left, Right Node
	}
	// Cond is `Then if Test else Other`.
	Cond struct{ Then, Test, Other Node }
	// Unary is an operand with a sign or ~ before it.
	Unary struct {
		Op string
		X  Node
	}
	// Binary joins two operands by an operator that is neither a comparison nor Logic.
	Binary struct {
		Op          string
		Left, Right Node
	}
	// Compare is a chain of comparisons: each operand is computed once, and the first that fails
	// ends it.
	Compare struct {
		First Node
		Ops   []string
		Rest  []Node
	}
	// Display is a list, a tuple or a set with its items written out.
	Display struct {
		Kind  Kind
		Items []Node
	}
	// Dict is a dict with its entries written out.
	Dict struct{ Keys, Values []Node }
	// Subscript is X[Index]; the index may be a Cut.
	Subscript struct{ X, Index Node }
	// Cut is a:b:c within brackets; a part that is not written is nil.
	Cut struct{ Start, Stop, Step Node }
	// Attribute is X.Name.
	Attribute struct {
		X    Node
		Name string
	}
	// Call is a call with its arguments; Values are those of the Keywords.
	Call struct {
		Callee   Node
		Args     []Node
		Keywords []string
		Values   []Node
	}
	// Lambda is a function without a name, whose frame holds its Params.
	Lambda struct {
		Params []string
		Body   Node
	}
	// Comprehension is a comprehension or generator. Its names are the slots of its frame; Value is
	// a dict's.
	Comprehension struct {
		Kind       Kind
		Key, Value Node
		Loops      []*Loop
		Names      []string
	}
	// Iter computes an iterable and begins to walk it.
	Iter struct{ X Node }
	// Joined is a string of which parts are computed: an f-string, or one beside plain literals.
	Joined struct{ Parts []Node }
	// Field is a replacement field of an f-string.
	Field struct {
		X          Node
		Conversion byte // 's', 'r', 'a' or 0
		Spec       Node // nil without one
	}
	// Placed is a part of which an error is to be blamed on the source at Pos, when nothing within
	// it is.
	Placed struct {
		Inner Node
		Pos   int
	}
)

// Kind is what a display or a comprehension makes.
type Kind uint8

// The kinds. Only a Display makes a TupleKind, only a Comprehension a DictKind or a generator.
const (
	ListKind Kind = iota
	TupleKind
	SetKind
	DictKind
	GeneratorKind
)

// Loop is one `for` of a comprehension with the conditions behind it.
type Loop struct {
	Target     Target
	In         Node // an Iter
	Conditions []Node
}

// Target is where a loop puts an item: a slot, or several targets that it is unpacked into if the
// slot is negative.
type Target struct {
	Slot int
	Many []Target
}

// Tree is an expression that was read.
type Tree struct {
	Root Node
	Free []*Name // in the order in which they stand in the source
}
