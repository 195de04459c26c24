package prchain

import "context"

// Preview says what Begin would do, without writing anything: a part that is Opened would be, one
// with a Pull is there.
func (x Executor) Preview(ctx context.Context, p Plan) (Result, error) {
	if err := p.Check(); err != nil {
		return Result{}, err
	}
	s, err := known(x.Book, p)
	if err != nil {
		return Result{}, err
	}
	r := Result{Plan: p}
	for n := range s.Parts {
		o, err := x.foresee(ctx, s, n)
		if err != nil {
			return Result{}, err
		}
		r.Parts = append(r.Parts, o)
	}
	return r, nil
}

func (x Executor) foresee(ctx context.Context, s State, n int) (Outcome, error) {
	if s.Parts[n].Number > 0 {
		p, err := x.Forge.ReadPull(ctx, s.ID(n))
		return Outcome{Pull: p}, err
	}
	base, err := x.base(ctx, s.Plan.Parts[n])
	if err != nil {
		return Outcome{}, err
	}
	s.Parts[n].Base = base
	found, ok, err := x.find(ctx, s, n)
	return Outcome{Pull: found, Opened: !ok}, err
}
