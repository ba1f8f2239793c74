/**
 * Cuts `text` so that it has at most `limit` UTF-8 bytes with `note` at its end, never inside a character. A code fence
 * that the cut leaves open is closed, so that the note is read as text. GitHub counts some limits in characters and some in
 * bytes; bytes satisfy both.
 */
export function cutText(text: string, limit: number, note: string): string {
  if (Buffer.byteLength(text) <= limit) return text
  const closing = `\n${'`'.repeat(10)}`
  const room = limit - Buffer.byteLength(note) - Buffer.byteLength(closing)
  const kept = cutBytes(text, Math.max(0, room))
  const fence = openFence(kept)
  return `${kept}${fence ? `\n${fence}` : ''}${note}`
}

/** The longest beginning of `text` with at most `limit` UTF-8 bytes; a surrogate pair stays whole. */
export function cutBytes(text: string, limit: number): string {
  const bytes = Buffer.from(text)
  if (bytes.length <= limit) return text
  let end = limit
  // 10xxxxxx is the inside of a character
  while (end > 0 && (bytes[end]! & 0xc0) === 0x80) end--
  return bytes.subarray(0, end).toString()
}

function openFence(text: string): string | undefined {
  let open: string | undefined
  for (const line of text.split('\n')) {
    const fence = /^ {0,3}(`{3,10}|~{3,10})/.exec(line)?.[1]
    if (!fence) continue
    if (open === undefined) open = fence
    else if (fence[0] === open[0] && fence.length >= open.length) open = undefined
  }
  return open
}
