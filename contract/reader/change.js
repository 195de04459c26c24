// Names of labels, and what to change (spec.md#names, spec.md#pipelines, spec-writing.md#change).

import { lower } from './replay.js';

export const NAMES = {
  available: 'agent:implement', claimed: 'agent:in-flight', 'plan-pending': 'agent:plan-pending-approval', 'pr-open': 'agent:pr-open', done: 'agent:done',
  'person-hold': 'do-not-pickup', 'needs-scope': 'needs:human-scope', blocked: 'agent:blocked', bundle: 'agent:bundle:',
};

// The label of a stage: the last one's is its bare name.
export const stageLabel = (stages, stage) => (stage === stages.at(-1) ? stage : `stage:${stage}`);

// All lifecycle labels, in the order of their states.
export function lifecycle(names, stages = []) {
  const queue = stages.length ? stages.slice(0, -1).map((s) => stageLabel(stages, s)) : [names.available];
  const done = stages.length ? stages.at(-1) : names.done;
  return [...queue, names.claimed, names['plan-pending'], names['pr-open'], done];
}

// A result is {keep, show: [labels], plus: [labels], minus: [labels]}; what it shows is in the order stage, state, gate.
export function change(labels, result, names = NAMES, stages = []) {
  const has = new Set(labels.map(lower));
  const all = new Set(lifecycle(names, stages).map(lower));
  const shown = new Set(result.show.map(lower));
  const minus = new Set(result.minus.map(lower));
  const missing = [...(result.keep ? [] : result.show), ...result.plus].filter((l) => !has.has(lower(l)));
  const surplus = result.keep ? [] : labels.filter((l) => all.has(lower(l)) && !shown.has(lower(l)));
  const taken = labels.filter((l) => minus.has(lower(l)));
  return { add: missing, remove: [...surplus, ...taken] };
}
