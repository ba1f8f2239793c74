/** A text of one line as lines of at most `room` characters, broken at spaces, and within a word only where it alone is longer. */
export function wrap(text: string, room = 100): string[] {
  const lines: string[] = []
  let line = ''
  for (const word of text.split(' ')) {
    if (line !== '' && line.length + 1 + word.length > room) {
      lines.push(line)
      line = ''
    }
    line = line === '' ? word : `${line} ${word}`
    while (line.length > room) {
      lines.push(line.slice(0, room))
      line = line.slice(room)
    }
  }
  return [...lines, line]
}
