const TOKEN = /[A-Za-z0-9+/_=-]{20,4096}/g
const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/gi
/** Hashes of content, which are public by their purpose. */
const DIGEST = /\b(?:sha(?:1|224|256|384|512)|md5|h1)[:-][A-Za-z0-9+/=]{20,128}/gi
/** Bits for each character; words of any language that people name things in stay below. */
const ENTROPY = 3.2

/** Whether a part of a text looks as if a generator made it: long, of letters and digits, and without a pattern. */
export function looksRandom(text: string): boolean {
  const rest = text.replace(UUID, ' ').replace(DIGEST, ' ')
  for (const [token] of rest.matchAll(TOKEN)) {
    for (const part of token.split(/[-_/=]+/)) if (isRandom(part)) return true
    // base64 for addresses has dashes and underscores in it
    if (/^[A-Za-z0-9+_]{20,}={0,2}$/.test(token) && /[A-Z]/.test(token) && /[a-z]/.test(token) && isRandom(token))
      return true
  }
  return false
}

function isRandom(part: string): boolean {
  if (part.length < 20 || !/[0-9]/.test(part) || !/[A-Za-z]/.test(part)) return false
  const counts = new Map<string, number>()
  for (const char of part) counts.set(char, (counts.get(char) ?? 0) + 1)
  let bits = 0
  for (const count of counts.values()) bits -= (count / part.length) * Math.log2(count / part.length)
  return bits >= ENTROPY
}
