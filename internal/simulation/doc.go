// Package simulation holds nothing but tests: whole fleets on the embedded GitHub, in virtual time,
// seed by seed.
//
//	go test ./internal/simulation                                    a hundred seeds, and the load
//	go test ./internal/simulation -run 'TestSeeds' -seed 123         one of them again, exactly
//	go test ./internal/simulation -run 'TestSeeds' -seed 123 -v -story   with every request
//	make sim SEEDS=20000 FROM=40000                                  a night's worth, others than last night's
//
// Every world is made of its seed alone: who there is, what goes wrong, and when. Each actor draws
// from a source of its own and no two things happen at one instant, so that a seed plays the same
// story every time.
package simulation
