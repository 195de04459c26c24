package app

import (
	"fmt"
	"strings"
	"testing"
)

// A cost is what a step asks of GitHub.
type cost struct {
	rest, query             int // requests, which are points of the hourly limits
	restPoints, queryPoints int // of the limits for a minute: a read is 1, a write 5
	comments                int
	moves                   int // of a reference
}

func costOf(b bill) (c cost) {
	c.comments = b.comments
	for _, one := range b.sent {
		points := 1
		if strings.HasPrefix(one, "* ") {
			points = 5
		}

		if strings.Contains(one, "/graphql ") {
			c.query, c.queryPoints = c.query+1, c.queryPoints+points
		} else {
			c.rest, c.restPoints = c.rest+1, c.restPoints+points
		}

		if strings.Contains(one, "/git/commits") {
			c.moves++
		}
	}

	return c
}

func (c cost) plus(o cost, times int) cost {
	return cost{
		c.rest + times*o.rest, c.query + times*o.query, c.restPoints + times*o.restPoints, c.queryPoints +
			times*o.queryPoints,
		c.comments + times*o.comments, c.moves + times*o.moves,
	}
}

// An hourly is what one login may ask in an hour.
type hourly struct {
	name        string
	rest, query int
}

// hourlies are GitHub's primary limits (docs, "Rate limits for the REST API" and "for the GraphQL
// API").
func hourlies() []hourly {
	return []hourly{
		{"a login, or an App's installation on 20 repositories", 5000, 5000},
		{"an App's installation on 170 repositories or more", 12500, 12500},
		{"`GITHUB_TOKEN`, in each repository", 1000, 1000},
	}
}

// carries is how many of a step fit into an hour when a fifth of each limit is left free, and which
// limit says so.
func (h hourly) carries(c cost) (n int, by string) {
	for _, l := range []struct {
		name       string
		most, each int
	}{
		{"500 comments an hour", 500, c.comments},
		{"80 comments a minute", 60 * 80, c.comments},
		{fmt.Sprintf("%d REST requests an hour", h.rest), h.rest, c.rest},
		{fmt.Sprintf("%d GraphQL points an hour", h.query), h.query, c.query},
		{"900 REST points a minute", 60 * 900, c.restPoints},
		{"2,000 GraphQL points a minute", 60 * 2000, c.queryPoints},
	} {
		if l.each > 0 && (by == "" || l.most*8/10/l.each < n) {
			n, by = l.most*8/10/l.each, l.name
		}
	}

	return n, by
}

const scalePage = "../../../docs/scale.md"

// renewals is how often a hold of an hour is renewed.
const renewals = 3

// TestScale computes the tables of docs/scale.md from what the commands send on the embedded
// GitHub.
func TestScale(t *testing.T) {
	steps := "| step | `claim.lease` | REST requests | GraphQL requests | comments | moves of a reference |\n|---|---|---|---|---|---|\n"
	hours := "| who | `claim.lease` | claims | renewals | releases | holds | the limit that ends first |\n|---|---|---|---|---|---|---|\n"
	fleets := "| workers | `claim.lease` | logins | `GITHUB_TOKEN` of 20 repositories | moves of references a minute, in each of 20 repositories |\n|---|---|---|---|---|\n"
	holds := map[string]cost{}
	for _, p := range pricings()[:2] {
		costs := map[string]cost{}
		for _, c := range pricedCommands() {
			if c.name == "next" || c.name == "renew" || c.name == "release" {
				costs[c.name] = costOf(c.bill(t, p))
			}
		}

		for _, step := range []string{"next", "renew", "release"} {
			c := costs[step]
			steps += fmt.Sprintf("| %s | %s | %d | %d | %d | %d |\n", step, p.name, c.rest, c.query, c.comments,
				c.moves)
		}

		hold := costs["next"].plus(costs["renew"], renewals).plus(costs["release"], 1)
		holds[p.name] = hold
		for _, h := range hourlies() {
			claims, _ := h.carries(costs["next"])
			renews, _ := h.carries(costs["renew"])
			releases, _ := h.carries(costs["release"])
			all, by := h.carries(hold)
			hours += fmt.Sprintf("| %s | %s | %d | %d | %d | %d | %s |\n", h.name, p.name, claims, renews, releases,
				all, by)
		}
	}

	for _, workers := range []int{100, 1000, 10000} {
		for _, p := range pricings()[:2] {
			login, _ := hourlies()[0].carries(holds[p.name])
			token, _ := hourlies()[2].carries(holds[p.name])
			enough := "enough"
			if 20*token < workers {
				enough = "too little"
			}

			fleets += fmt.Sprintf("| %d | %s | %d | %s | %.1f |\n", workers, p.name, (workers+login-1)/login, enough,
				float64(workers*holds[p.name].moves)/20/60)
		}
	}

	checkTable(t, scalePage, "steps", steps)
	checkTable(t, scalePage, "an hour", hours)
	checkTable(t, scalePage, "fleets", fleets)
}
