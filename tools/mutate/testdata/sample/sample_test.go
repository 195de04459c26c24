package sample

import "testing"

func TestBox(t *testing.T) {
	b := &Box{wide: 3, high: 2}
	if !b.Fits(Box{wide: 2, high: 2}) || b.Fits(Box{wide: 4, high: 1}) || b.Fits(Box{wide: 1, high: 3}) || Area(*b) != 6 {
		t.Error("the box")
	}
	if Greeting("ann") != "hello ann" || Greeting("") != "hello you" {
		t.Error("the greeting")
	}
}
