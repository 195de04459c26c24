// Package sample has what its test holds, and what it does not.
package sample

import "strings"

// A Box has sides.
type Box struct{ wide, high int }

// Fits is held by its test but for the edge and one of the conditions.
func (b *Box) Fits(other Box) bool {
	return other.wide > 0 && b.wide >= other.wide && b.high >= other.high
}

// Area is held.
func Area(b Box) int {
	area := b.wide
	area *= b.high
	return area
}

// Named is reached by no test.
func Named(name string, b Box) map[string]Box {
	return map[string]Box{strings.ToLower(name): b}
}

// Greeting has a sum of texts, which cannot become a difference.
func Greeting(name string) string {
	if name == "" {
		name = "you"
	}
	return "hello " + name
}
