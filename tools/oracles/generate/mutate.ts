import type { Chance } from './chance.ts'

const INSERTS = [
  '\t',
  '\r',
  '\0',
  '\ufeff',
  '\u2028',
  '\u0085',
  ': ',
  '- ',
  '---\n',
  '...',
  '{',
  '[',
  ']',
  '&a ',
  '*a',
  '!!binary ',
  '|',
  '>+\n',
  '%YAML 1.1\n',
  '"',
  "'",
  '<<: ',
  '#',
  '\\',
  '$',
  '${',
  '~',
  '\u00e9',
  '\ud83d\ude00',
  '? ',
] as const

/** A text of bytes with one to three of them, or of its lines, changed, lost, doubled or moved. */
export function mutate(text: string, chance: Chance): Uint8Array {
  let bytes = Buffer.from(text)
  for (let times = 1 + chance.upTo(2); times > 0; times--) bytes = Buffer.from(once(bytes, chance))
  return bytes
}

function once(bytes: Buffer, chance: Chance): Uint8Array {
  const at = chance.upTo(bytes.length)
  switch (chance.upTo(6)) {
    case 0:
      return Buffer.concat([bytes.subarray(0, at), Buffer.from(chance.pick(INSERTS)), bytes.subarray(at)])
    case 1:
      return Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + 1 + chance.upTo(3))])
    case 2:
      return Buffer.concat([bytes.subarray(0, at), Buffer.of(chance.upTo(255)), bytes.subarray(at + 1)])
    case 3:
      return bytes.subarray(0, at)
    default:
      return Buffer.from(lines(bytes.toString('latin1').split('\n'), chance).join('\n'), 'latin1')
  }
}

function lines(all: readonly string[], chance: Chance): string[] {
  const [from, to] = [chance.upTo(all.length - 1), chance.upTo(all.length - 1)]
  const line = all[from]!
  switch (chance.upTo(4)) {
    case 0:
      return all.toSpliced(to, 0, line)
    case 1:
      return all.toSpliced(from, 1)
    case 2:
      return all.with(from, ` ${line}`)
    case 3:
      return all.with(from, line.replace(/^ {1,2}/, ''))
    default:
      return all.with(from, all[to]!).with(to, line)
  }
}
