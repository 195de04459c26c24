// Moves that may be asked for (spec-writing.md#legal-moves).

const LEGAL = {
  none: ['available'],
  available: ['claimed', 'pr-open'],
  claimed: ['available', 'plan-pending', 'pr-open', 'done'],
  'plan-pending': ['claimed', 'available'],
  'pr-open': ['done', 'available', 'claimed'],
  done: ['available'],
};

// 'stay' (no move), 'legal', 'escalates' (by itself, after too many failed attempts), or 'refused'.
export function move(from, to) {
  if (from === to) return 'stay';
  if (LEGAL[from]?.includes(to)) return 'legal';
  if (to === 'none' && (from === 'available' || from === 'claimed')) return 'escalates';
  return 'refused';
}
