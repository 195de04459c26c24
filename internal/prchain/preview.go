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
	if err := x.check(ctx, s); err != nil {
		return Result{}, err
	}

	r := Result{Plan: p}
	for n := range s.Parts {
		if s.Parts[n].Number > 0 {
			there, err := x.Forge.ReadPull(ctx, s.id(n))
			if err != nil {
				return Result{}, err
			}
			r.Parts = append(r.Parts, Outcome{Pull: there})
			continue
		}

		found, ok, err := x.find(ctx, s, n)
		if err != nil {
			return Result{}, err
		}

		r.Parts = append(r.Parts, Outcome{Pull: found, Opened: !ok})
	}

	return r, nil
}
