module github.com/label-state/label-state/bench

go 1.26.0
