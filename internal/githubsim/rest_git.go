package githubsim

import (
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/label-state/label-state/internal/githubsim/gitrepo"
)

func gitRoutes() map[string]endpoint {
	return map[string]endpoint{
		"GET /R/git/ref/{ref...}":           getRef,
		"GET /R/git/matching-refs/{ref...}": matchRefs,
		"POST /R/git/refs":                  postRef,
		"PATCH /R/git/refs/{ref...}":        patchRef,
		"DELETE /R/git/refs/{ref...}":       deleteRef,
		"POST /R/git/commits":               postCommit,
		"GET /R/git/commits/{sha}":          getCommit,
		"POST /R/git/trees":                 postTree,
		"GET /R/git/trees/{sha}":            getTree,
		"POST /R/git/blobs":                 postBlob,
		"POST /R/git/tags":                  postTag,
		"GET /R/git/tags/{sha}":             getTag,
		"GET /R/branches/{branch...}":       getBranch,
	}
}

// gitFor is the path's repository with its git. One without git answers as an empty one.
func (c *call) gitFor() (*repository, error) {
	r, err := c.repo()
	if err != nil {
		return nil, err
	}
	if r.git == nil {
		return nil, conflict("Git Repository is empty.")
	}

	return r, nil
}

// gitToWrite is gitFor for somebody who may push.
func (c *call) gitToWrite() (*repository, error) {
	r, err := c.repo()
	if err != nil {
		return nil, err
	}
	if err := c.who.need(r, roleWrite); err != nil {
		return nil, err
	}

	return c.gitFor()
}

// gitRefusal says what git's reason is in GitHub's words.
func gitRefusal(err error) error {
	for reason, message := range map[error]string{
		gitrepo.ErrExists:         "Reference already exists",
		gitrepo.ErrNotFound:       "Reference does not exist",
		gitrepo.ErrNoObject:       "Object does not exist",
		gitrepo.ErrNotFastForward: "Update is not a fast forward",
		gitrepo.ErrConflict:       "Reference update failed",
		gitrepo.ErrWrongType:      "Reference update failed",
		gitrepo.ErrInvalid:        "Reference name is not valid",
	} {
		if errors.Is(err, reason) {
			return unprocessable(message)
		}
	}

	return err
}

func (c *call) refJSON(r *repository, ref gitrepo.Ref) object {
	api := c.repoURL(r) + "/git/"
	return object{
		"ref": ref.Name, "node_id": nodeID("REF", r.id) + "_" + ref.Name, "url": api + ref.Name,
		"object": object{"sha": ref.OID, "type": ref.Type, "url": api + ref.Type + "s/" + ref.OID},
	}
}

// readRef is the reference of exactly that full name.
func (c *call) readRef(r *repository, name string) (gitrepo.Ref, bool, error) {
	refs, err := r.git.Refs(c.r.Context(), name)
	if err != nil {
		return gitrepo.Ref{}, false, err
	}

	for _, ref := range refs {
		if ref.Name == name {
			return ref, true, nil
		}
	}

	return gitrepo.Ref{}, false, nil
}

func (c *call) refName() string { return "refs/" + strings.TrimPrefix(c.params["ref"], "refs/") }

func getRef(c *call) (answer, error) {
	r, err := c.gitFor()
	if err != nil {
		return answer{}, err
	}

	ref, found, err := c.readRef(r, c.refName())
	if err != nil {
		return answer{}, err
	}
	if !found {
		return answer{}, notFound()
	}

	return ok(c.refJSON(r, ref))
}

func matchRefs(c *call) (answer, error) {
	r, err := c.gitFor()
	if err != nil {
		return answer{}, err
	}

	refs, err := r.git.Refs(c.r.Context(), c.refName())
	if err != nil {
		return answer{}, err
	}

	return ok(rendered(refs, func(ref gitrepo.Ref) object { return c.refJSON(r, ref) }))
}

func postRef(c *call) (answer, error) {
	r, err := c.gitToWrite()
	if err != nil {
		return answer{}, err
	}

	var sent struct{ Ref, SHA string }
	if err := c.decode(&sent); err != nil {
		return answer{}, err
	}
	if !strings.HasPrefix(sent.Ref, "refs/") || strings.Count(sent.Ref, "/") < 2 {
		return answer{}, unprocessable("Reference name must start with 'refs' and have at least two slashes.")
	}
	if c.unseen {
		return answer{}, notFound()
	}
	if err := r.git.CreateRef(c.r.Context(), sent.Ref, sent.SHA); err != nil {
		return answer{}, gitRefusal(err)
	}

	ref, _, err := c.readRef(r, sent.Ref)
	if err != nil {
		return answer{}, err
	}

	c.header.Set("Location", c.repoURL(r)+"/git/"+sent.Ref)
	return created(c.refJSON(r, ref))
}

func patchRef(c *call) (answer, error) {
	r, err := c.gitToWrite()
	if err != nil {
		return answer{}, err
	}

	var sent struct {
		SHA   string
		Force bool
	}

	if err := c.decode(&sent); err != nil {
		return answer{}, err
	}

	// GitHub asks for a fast-forward of branches only: any other reference moves wherever it is
	// told to.
	force := sent.Force || !strings.HasPrefix(c.refName(), "refs/heads/")
	if err := r.git.UpdateRef(c.r.Context(), c.refName(), sent.SHA, force); err != nil {
		return answer{}, gitRefusal(err)
	}
	if err := c.synchronize(c.r.Context(), c.who, r); err != nil {
		return answer{}, err
	}

	ref, _, err := c.readRef(r, c.refName())
	if err != nil {
		return answer{}, err
	}

	return ok(c.refJSON(r, ref))
}

func deleteRef(c *call) (answer, error) {
	r, err := c.gitToWrite()
	if err != nil {
		return answer{}, err
	}
	if err := r.git.DeleteRef(c.r.Context(), c.refName()); err != nil {
		return answer{}, gitRefusal(err)
	}

	return nothing()
}

func getBranch(c *call) (answer, error) {
	r, err := c.gitFor()
	if err != nil {
		return answer{}, err
	}

	name := c.params["branch"]
	oid, found, err := r.git.Ref(c.r.Context(), "refs/heads/"+name)
	if errors.Is(err, gitrepo.ErrInvalid) || (err == nil && !found) {
		return answer{}, &refusal{status: http.StatusNotFound, message: "Branch not found"}
	}
	if err != nil {
		return answer{}, err
	}

	commit, err := r.git.ReadCommit(c.r.Context(), oid)
	if err != nil {
		return answer{}, err
	}

	api := c.repoURL(r) + "/branches/" + name
	return ok(object{
		"name": name, "commit": c.commitOf(r)(commit), "protected": false, "protection_url": api + "/protection",
		"_links":     object{"self": api, "html": c.repoPage(r) + "/tree/" + name},
		"protection": object{"enabled": false},
	})
}

// A sentSignature is who and when, as requests give it.
type sentSignature struct {
	Name, Email string
	Date        time.Time
}

// signature fills in the actor and the present where the request left them out.
func (c *call) signature(sent *sentSignature, otherwise gitrepo.Signature) gitrepo.Signature {
	if sent == nil {
		return otherwise
	}
	by := gitrepo.Signature{Name: sent.Name, Email: sent.Email, When: sent.Date}
	if by.When.IsZero() {
		by.When = c.moment
	}

	return by
}

func (c *call) self() gitrepo.Signature {
	return gitrepo.Signature{Name: c.who.account.login, Email: c.who.account.email(), When: c.moment}
}

func signatureJSON(s gitrepo.Signature) object {
	return object{"name": s.Name, "email": s.Email, "date": timestamp(s.When)}
}
