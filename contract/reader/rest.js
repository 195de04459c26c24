// The back-off (spec.md#back-off).

// 32-bit FNV-1a of octets (a byte string).
export function fnv1a(octets) {
  let h = 0x811c9dc5;
  for (let i = 0; i < octets.length; i++) h = Math.imul(h ^ octets.charCodeAt(i), 0x01000193) >>> 0;
  return h;
}

// How long an issue backs off after a failed attempt of the key, in milliseconds.
export function rest(key, milliseconds) {
  const r = BigInt(milliseconds);
  return Number((r * 3n) / 4n + ((r / 2n) * BigInt(fnv1a(key))) / 2n ** 32n);
}
