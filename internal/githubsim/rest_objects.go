package githubsim

import (
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"net/http"
	"path"
	"slices"
	"strings"

	"github.com/label-state/label-state/internal/githubsim/gitrepo"
)

func contentRoutes() map[string]endpoint {
	return map[string]endpoint{"GET /R/contents/{path...}": getContents}
}

// emptyTree is the id that git gives the tree with nothing in it.
const emptyTree = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"

func postCommit(c *call) (answer, error) {
	r, err := c.gitToWrite()
	if err != nil {
		return answer{}, err
	}

	var sent struct {
		Message, Tree     string
		Parents           []string
		Author, Committer *sentSignature
	}

	if err := c.decode(&sent); err != nil {
		return answer{}, err
	}
	if c.unseen {
		return answer{}, objectRefusal(gitrepo.ErrNoObject)
	}

	if sent.Tree == emptyTree {
		if _, err := r.git.WriteTree(c.r.Context(), "", nil); err != nil {
			return answer{}, err
		}
	}

	author := c.signature(sent.Author, c.self())
	commit := gitrepo.Commit{
		Tree:      sent.Tree,
		Parents:   sent.Parents,
		Message:   sent.Message,
		Author:    author,
		Committer: c.signature(sent.Committer, author),
	}
	oid, err := r.git.WriteCommit(c.r.Context(), commit)
	if err != nil {
		return answer{}, objectRefusal(err)
	}

	commit.OID = oid
	return created(c.gitCommitJSON(r, commit))
}

// objectRefusal says why an object could not be written.
func objectRefusal(err error) error {
	switch {
	case errors.Is(err, gitrepo.ErrNoObject):
		return unprocessable("Tree SHA does not exist")
	case errors.Is(err, gitrepo.ErrWrongType), errors.Is(err, gitrepo.ErrInvalid):
		return unprocessable("The object is not valid")
	}

	return err
}

// absentObject is the answer to a request for an object that is not there.
func absentObject(err error) error {
	for _, reason := range []error{gitrepo.ErrNoObject, gitrepo.ErrWrongType, gitrepo.ErrInvalid, gitrepo.ErrNotFound} {
		if errors.Is(err, reason) {
			return notFound()
		}
	}
	return err
}

func getCommit(c *call) (answer, error) {
	r, err := c.gitFor()
	if err != nil {
		return answer{}, err
	}
	if c.unseen {
		return answer{}, notFound()
	}

	commit, err := r.git.ReadCommit(c.r.Context(), c.params["sha"])
	if err != nil {
		return answer{}, absentObject(err)
	}

	return ok(c.gitCommitJSON(r, commit))
}

// gitCommitJSON is a commit as the git database API shows it.
func (c *call) gitCommitJSON(r *repository, commit gitrepo.Commit) object {
	api, page := c.repoURL(r)+"/git/commits/", c.repoPage(r)+"/commit/"
	return object{
		"sha": commit.OID, "node_id": nodeID("C", r.id) + commit.OID, "url": api + commit.OID, "html_url": page +
			commit.OID,
		"author": signatureJSON(commit.Author), "committer": signatureJSON(commit.Committer), "message": commit.Message,
		"tree":    object{"sha": commit.Tree, "url": c.repoURL(r) + "/git/trees/" + commit.Tree},
		"parents": parentsJSON(commit, api, page), "verification": unsigned(),
	}
}

func parentsJSON(commit gitrepo.Commit, api, page string) []any {
	return rendered(commit.Parents, func(p string) object {
		return object{"sha": p, "url": api + p, "html_url": page + p}
	})
}

func unsigned() object {
	return object{
		"verified":    false,
		"reason":      "unsigned",
		"signature":   nil,
		"payload":     nil,
		"verified_at": nil,
	}
}

// commitOf renders commits as lists of commits do.
func (c *call) commitOf(r *repository) func(gitrepo.Commit) object {
	return func(commit gitrepo.Commit) object {
		api, page := c.repoURL(r)+"/commits/", c.repoPage(r)+"/commit/"
		return object{
			"sha": commit.OID, "node_id": nodeID("C", r.id) + commit.OID, "url": api + commit.OID, "html_url": page +
				commit.OID,
			"comments_url": api + commit.OID + "/comments", "author": nil, "committer": nil,
			"parents": parentsJSON(commit, api, page),
			"commit": object{
				"url": c.repoURL(r) + "/git/commits/" + commit.OID, "author": signatureJSON(commit.Author),
				"committer": signatureJSON(commit.Committer), "message": commit.Message, "comment_count": 0,
				"tree":         object{"sha": commit.Tree, "url": c.repoURL(r) + "/git/trees/" + commit.Tree},
				"verification": unsigned(),
			},
		}
	}
}

// A sentEntry is one line of a tree in a request. A null sha removes, content makes a blob.
type sentEntry struct {
	Path, Mode, Type string
	SHA              *string
	Content          *string
}

func postTree(c *call) (answer, error) {
	r, err := c.gitToWrite()
	if err != nil {
		return answer{}, err
	}

	var sent struct {
		Base string `json:"base_tree"`
		Tree []sentEntry
	}

	if err := c.decode(&sent); err != nil {
		return answer{}, err
	}
	var entries []gitrepo.TreeEntry
	for _, e := range sent.Tree {
		entry := gitrepo.TreeEntry{Path: e.Path, Mode: e.Mode}
		switch {
		case e.SHA != nil:
			entry.OID = *e.SHA
		case e.Content != nil:
			if entry.OID, err = r.git.WriteBlob([]byte(*e.Content)); err != nil {
				return answer{}, err
			}
		}

		entries = append(entries, entry)
	}

	oid, err := r.git.WriteTree(c.r.Context(), sent.Base, entries)
	if err != nil {
		return answer{}, objectRefusal(err)
	}

	o, err := c.treeJSON(r, oid, r.git.ReadTree)
	if err != nil {
		return answer{}, err
	}

	return created(o)
}

func getTree(c *call) (answer, error) {
	r, err := c.gitFor()
	if err != nil {
		return answer{}, err
	}

	read := r.git.ReadTree
	if c.r.URL.Query().Get("recursive") != "" {
		read = r.git.ReadTreeRecursive
	}

	o, err := c.treeJSON(r, c.params["sha"], read)
	if err != nil {
		return answer{}, absentObject(err)
	}

	return ok(o)
}

func postBlob(c *call) (answer, error) {
	r, err := c.gitToWrite()
	if err != nil {
		return answer{}, err
	}

	var sent struct{ Content, Encoding string }
	if err := c.decode(&sent); err != nil {
		return answer{}, err
	}

	data := []byte(sent.Content)
	if sent.Encoding == "base64" {
		if data, err = base64.StdEncoding.DecodeString(strings.ReplaceAll(sent.Content, "\n", "")); err != nil {
			return answer{}, unprocessable("content is not valid Base64")
		}
	}

	oid, err := r.git.WriteBlob(data)
	if err != nil {
		return answer{}, err
	}

	return created(object{"sha": oid, "url": c.repoURL(r) + "/git/blobs/" + oid})
}

func postTag(c *call) (answer, error) {
	r, err := c.gitToWrite()
	if err != nil {
		return answer{}, err
	}

	var sent struct {
		Tag, Message, Object, Type string
		Tagger                     *sentSignature
	}

	if err := c.decode(&sent); err != nil {
		return answer{}, err
	}

	tag := gitrepo.Tag{
		Name:    sent.Tag,
		Message: sent.Message,
		Target:  sent.Object,
		Type:    sent.Type,
		Tagger:  c.signature(sent.Tagger, c.self()),
	}
	oid, err := r.git.WriteTag(c.r.Context(), tag)
	if err != nil {
		return answer{}, objectRefusal(err)
	}

	return created(c.tagJSON(r, oid, tag))
}

func getTag(c *call) (answer, error) {
	r, err := c.gitFor()
	if err != nil {
		return answer{}, err
	}

	oid := c.params["sha"]
	tag, err := r.git.ReadTag(c.r.Context(), oid)
	if err != nil {
		return answer{}, absentObject(err)
	}

	return ok(c.tagJSON(r, oid, tag))
}

func (c *call) tagJSON(r *repository, oid string, tag gitrepo.Tag) object {
	api := c.repoURL(r) + "/git/"
	return object{
		"sha": oid, "node_id": nodeID("T", r.id) + oid, "url": api + "tags/" + oid, "tag": tag.Name,
		"message": tag.Message,
		"tagger":  signatureJSON(tag.Tagger), "verification": unsigned(),
		"object": object{"sha": tag.Target, "type": tag.Type, "url": api + tag.Type + "s/" + tag.Target},
	}
}

// A rawText is sent as it is, not as JSON.
type rawText []byte

func getContents(c *call) (answer, error) {
	r, err := c.repo()
	if err != nil {
		return answer{}, err
	}

	name := c.params["path"]
	entries, isFolder, err := c.folder(r, name)
	if err != nil {
		return answer{}, err
	}
	if isFolder {
		return ok(rendered(entries, func(e gitrepo.TreeEntry) object { return c.entryJSON(r, e) }))
	}

	data, err := c.file(r, name)
	if err != nil {
		return answer{}, err
	}
	if strings.Contains(c.r.Header.Get("Accept"), "raw") {
		return answer{http.StatusOK, rawText(data)}, nil
	}

	api, page := c.repoURL(r)+"/contents/"+name, c.repoPage(r)+"/blob/"+r.base+"/"+name
	sha := blobSHA(data)
	blob := c.repoURL(r) + "/git/blobs/" + sha
	return ok(object{
		"type": "file", "encoding": "base64", "size": len(data), "name": path.Base(name), "path": name, "sha": sha,
		"url":     api,
		"git_url": blob, "html_url": page, "download_url": c.repoPage(r) + "/raw/" + r.base + "/" + name,
		"content": base64.StdEncoding.EncodeToString(data), "_links": object{"self": api, "git": blob, "html": page},
	})
}

// folder lists what is in a folder, by full paths, at the ref that the request names or on the
// default branch. is is false for what is not a folder.
func (c *call) folder(r *repository, name string) (entries []gitrepo.TreeEntry, is bool, err error) {
	if r.git != nil {
		entries, is, err = r.git.Folder(c.r.Context(), c.revision(r), name)
		return entries, is, absentObject(err)
	}

	below := name + "/"
	for full, content := range r.files {
		rest, in := strings.CutPrefix(full, below)
		if !in {
			continue
		}

		first, _, deeper := strings.Cut(rest, "/")
		e := gitrepo.TreeEntry{
			Path: below + first,
			Type: "blob",
			OID:  blobSHA([]byte(content)),
			Size: int64(len(content)),
		}

		if deeper {
			e.Type, e.OID, e.Size = "tree", blobSHA([]byte(below+first)), 0
		}
		entries = append(entries, e)
	}

	slices.SortFunc(entries, func(a, b gitrepo.TreeEntry) int { return strings.Compare(a.Path, b.Path) })
	entries = slices.CompactFunc(entries, func(a, b gitrepo.TreeEntry) bool { return a.Path == b.Path })
	return entries, len(entries) > 0, nil
}

// entryJSON is one line of a folder.
func (c *call) entryJSON(r *repository, e gitrepo.TreeEntry) object {
	api, page := c.repoURL(r)+"/contents/"+e.Path, c.repoPage(r)+"/blob/"+r.base+"/"+e.Path
	o := object{
		"type": "file", "size": e.Size, "name": path.Base(e.Path), "path": e.Path, "sha": e.OID, "url": api,
		"html_url": page,
		"git_url":  c.repoURL(r) + "/git/blobs/" + e.OID, "download_url": c.repoPage(r) + "/raw/" + r.base +
			"/" + e.Path,
	}

	if e.Type == "tree" {
		o["type"], o["download_url"] = "dir", nil
		o["html_url"], o["git_url"] = c.repoPage(r)+"/tree/"+r.base+"/"+e.Path, c.repoURL(r)+"/git/trees/"+e.OID
	}

	o["_links"] = object{"self": api, "git": o["git_url"], "html": o["html_url"]}
	return o
}

// revision is the ref that the request names, or the default branch.
func (c *call) revision(r *repository) string {
	return cmp.Or(c.r.URL.Query().Get("ref"), "refs/heads/"+r.base)
}

// file reads a file at the ref that the request names, or on the default branch.
func (c *call) file(r *repository, name string) ([]byte, error) {
	return c.fileAt(c.r.Context(), r, c.revision(r), name)
}

// fileAt reads a file of a revision. Without git there is one revision alone.
func (c *call) fileAt(ctx context.Context, r *repository, rev, name string) ([]byte, error) {
	if r.git == nil {
		if content, found := r.files[name]; found {
			return []byte(content), nil
		}
		return nil, notFound()
	}

	data, err := r.git.File(ctx, rev, name)
	return data, absentObject(err)
}

func (c *call) treeJSON(r *repository, oid string, read treeReader) (object, error) {
	entries, err := read(c.r.Context(), oid)
	if err != nil {
		return nil, err
	}

	list := rendered(entries, func(e gitrepo.TreeEntry) object {
		o := object{"path": e.Path, "mode": e.Mode, "type": e.Type, "sha": e.OID, "url": c.repoURL(r) + "/git/" +
			e.Type + "s/" + e.OID}
		if e.Type == "blob" {
			o["size"] = e.Size
		}
		return o
	})

	return object{"sha": oid, "url": c.repoURL(r) + "/git/trees/" + oid, "tree": list, "truncated": false}, nil
}
