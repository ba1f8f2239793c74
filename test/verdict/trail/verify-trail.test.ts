import { expect, test } from 'vitest'
import { appendDecisions } from '../../../src/verdict/append-decisions.ts'
import {
  anchorOf,
  hashOfLine,
  lineOf,
  readLine,
  type TrailAnchor,
  type TrailEntry,
  type TrailFile,
  withAnchor,
  withoutAnchor,
} from '../../../src/verdict/trail-entry.ts'
import { verifyTrail } from '../../../src/verdict/verify-trail.ts'
import { decision } from './decisions.ts'

const ENTRIES = 60

/** A trail of several files, and the places that were published while it grew. */
function trailOf(count: number): { files: TrailFile[]; anchors: TrailAnchor[] } {
  const files: TrailFile[] = []
  const anchors: TrailAnchor[] = []
  let head: TrailAnchor | undefined
  for (let next = 1; next <= count; ) {
    const batch = Array.from({ length: Math.min(1 + (next % 7), count - next + 1) }, (_, at) => decision(next + at))
    const appended = appendDecisions(batch, head, [])!
    files.push(appended.file)
    head = appended.head
    anchors.push(anchorOf(withAnchor('5:pull-abc', head))!)
    next += batch.length
  }
  return { files, anchors }
}

const { files: FILES, anchors: ANCHORS } = trailOf(ENTRIES)
const linesOf = (files: readonly TrailFile[]) =>
  files.map(({ path, bytes }) => ({ path, lines: Buffer.from(bytes).toString('utf8').split('\n').slice(0, -1) }))
const filesOf = (all: readonly { path: string; lines: readonly string[] }[]): TrailFile[] =>
  all.map(({ path, lines }) => ({ path, bytes: Buffer.from(lines.map(line => `${line}\n`).join('')) }))

test('an untouched trail is complete, in whatever order its files are read', () => {
  const read = verifyTrail([...FILES].reverse(), ANCHORS)
  expect(read.problems).toEqual([])
  expect(read.entries.map(({ seq }) => seq)).toEqual(Array.from({ length: ENTRIES }, (_, at) => at + 1))
  expect(read.head?.seq).toBe(ENTRIES)
  expect(verifyTrail([]).problems).toEqual([])
})

test('a batch whose answer was lost is not appended twice', () => {
  const first = appendDecisions([decision(1), decision(2), decision(1)], undefined, [])!
  const { entries } = verifyTrail([first.file])
  expect(entries).toHaveLength(2)
  expect(appendDecisions([decision(1), decision(2)], first.head, entries)).toBeUndefined()
  const second = appendDecisions([decision(2), decision(3)], first.head, entries)!
  expect(verifyTrail([first.file, second.file]).entries.map(({ id }) => id)).toEqual(
    [1, 2, 3].map(number => `verdict-${number}`),
  )
})

/** Deterministic numbers below `most`. */
function numbers(seed: number): (most: number) => number {
  let state = seed
  return most => {
    state = (Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x9e3779b9) >>> 0
    return state % most
  }
}

type Lines = { path: string; lines: string[] }[]
/** Chains everything anew from a line on, as a forger would who can write the branch. */
function rechain(all: Lines): void {
  let previous = '0'.repeat(64)
  let seq = 0
  for (const file of all) {
    file.lines = file.lines.map(line => {
      const entry = JSON.parse(line) as TrailEntry
      seq += 1
      const next = lineOf({ ...entry, seq, previous })
      previous = hashOfLine(next)
      return next
    })
  }
}

const TAMPERINGS: Record<string, (all: Lines, pick: (most: number) => number) => void> = {
  'an entry is changed': (all, pick) => {
    const { lines } = all[pick(all.length)]!
    const at = pick(lines.length)
    lines[at] = lines[at]!.replace(/"result":"\w+"/, '"result":"error"')
  },
  'a character is changed': (all, pick) => {
    const { lines } = all[pick(all.length)]!
    const at = pick(lines.length)
    const line = lines[at]!
    const column = pick(line.length)
    lines[at] = `${line.slice(0, column)}${line[column] === 'x' ? 'y' : 'x'}${line.slice(column + 1)}`
  },
  'an entry is removed': (all, pick) => {
    const { lines } = all[pick(all.length)]!
    lines.splice(pick(lines.length), 1)
  },
  'a file is removed': (all, pick) => {
    all.splice(pick(all.length), 1)
  },
  'two entries are exchanged': (all, pick) => {
    const { lines } = all.find(file => file.lines.length > 1)!
    const at = pick(lines.length - 1)
    ;[lines[at], lines[at + 1]] = [lines[at + 1]!, lines[at]!]
  },
  'an entry is forged, and the rest chained anew': (all, pick) => {
    const { lines } = all[pick(all.length)]!
    const at = pick(lines.length)
    const entry = JSON.parse(lines[at]!) as TrailEntry
    lines[at] = lineOf({ ...entry, who: 'mallory' })
    rechain(all)
  },
  'an entry is added, and the rest chained anew': (all, pick) => {
    const { lines } = all[pick(all.length)]!
    lines.splice(pick(lines.length), 0, lineOf({ ...decision(999), seq: 1, previous: '0'.repeat(64) }))
    rechain(all)
  },
  'the end is cut off': (all, pick) => {
    const keep = pick(all.length)
    const cut = all[keep]!
    cut.lines = cut.lines.slice(0, pick(cut.lines.length))
    all.splice(cut.lines.length > 0 ? keep + 1 : keep)
  },
  'an entry is repeated': (all, pick) => {
    const { lines } = all[pick(all.length)]!
    const at = pick(lines.length)
    lines.splice(at, 0, lines[at]!)
  },
}

test.each(Object.entries(TAMPERINGS))('found in each of 125 trails: %s', (_, tamper) => {
  for (let seed = 1; seed <= 125; seed++) {
    const all = linesOf(FILES)
    tamper(all, numbers(seed * 7919))
    const changed = filesOf(all)
    expect(verifyTrail(changed, ANCHORS).problems.length, `seed ${seed}`).toBeGreaterThan(0)
  }
})

/** Those who may write the branch can chain everything anew: only places that were published, or signatures, show that. */
const ONLINE_ONLY = /chained anew|cut off/

test.each(Object.entries(TAMPERINGS).filter(([name]) => !ONLINE_ONLY.test(name)))(
  'found in each of 125 trails without any place that was published: %s',
  (_, tamper) => {
    for (let seed = 1; seed <= 125; seed++) {
      const all = linesOf(FILES)
      const [last] = all.splice(-1)
      tamper(all, numbers(seed * 7919))
      expect(verifyTrail(filesOf([...all, last!])).problems.length, `seed ${seed}`).toBeGreaterThan(0)
    }
  },
)

test('without a place that was published a cut or rewritten end is not found', () => {
  const cut = FILES.slice(0, -1)
  expect(verifyTrail(cut).problems).toEqual([])
  expect(verifyTrail(cut, ANCHORS).problems.map(({ message }) => message)).toEqual([
    `entry ${ENTRIES} is missing: it was published, and the trail ends at entry ${verifyTrail(cut).entries.length}`,
  ])
})

test.each([
  ['another order of fields', (line: string) => line.replace(/^\{("seq":\d+),("previous":"\w+")/, '{$2,$1')],
  ['a space', (line: string) => line.replace('"kind":', '"kind": ')],
  ['a field twice', (line: string) => line.replace('"kind":', '"kind":"apply","kind":')],
  ['an unknown field', (line: string) => line.replace(/\}$/, ',"note":"x"}')],
  ['an unknown kind', (line: string) => line.replace('"kind":"verdict"', '"kind":"opinion"')],
  ['an escape', (line: string) => line.replace('"verdict"', '"\\u0076erdict"')],
  ['another number', (line: string) => line.replace(/"seq":\d+/, '"seq":1e0')],
  ['no commit', (line: string) => line.replace(/"commit":"\w+"/, '"commit":"main"')],
  ['a prototype', (line: string) => line.replace('"kind":', '"__proto__":{},"kind":')],
  ['nothing', () => ''],
  ['null', () => 'null'],
])('a line with %s is not an entry', (_, change) => {
  const line = lineOf({ ...decision(1), seq: 1, previous: '0'.repeat(64) })
  expect(readLine(line)).toBeDefined()
  expect(change(line)).not.toBe(line)
  expect(readLine(change(line))).toBeUndefined()
})

test('bytes that are no UTF-8 are not the line that they look like', () => {
  const [first] = FILES
  const bytes = Buffer.from(first!.bytes)
  bytes[bytes.indexOf('bailiwick')] = 0xff
  expect(verifyTrail([{ path: first!.path, bytes }]).problems).not.toEqual([])
})

test('an external id holds one place, and says the same without it', () => {
  const head = verifyTrail(FILES).head!
  const id = withAnchor(withAnchor('5:pull-abc.def', { seq: 3, hash: 'f'.repeat(64) }), head)
  expect(anchorOf(id)).toEqual({ seq: ENTRIES, hash: head.hash.slice(0, 24) })
  expect(withoutAnchor(id)).toBe('5:pull-abc.def')
  expect(anchorOf('5:pull-abc.def')).toBeUndefined()
})

test('a revision set that is too long for a line is counted, one that just fits is listed', () => {
  const one = decision(1).revisions[0]!
  const entry = (count: number) => ({
    ...decision(1),
    seq: 1,
    previous: '0'.repeat(64),
    revisions: Array.from({ length: count }, () => one),
  })
  const each = Buffer.byteLength(lineOf(entry(2))) - Buffer.byteLength(lineOf(entry(1)))
  const room = 1024 * 1024 - Buffer.byteLength(lineOf(entry(1)))
  const most = 1 + Math.floor(room / each)
  expect(readLine(lineOf(entry(most)))?.revisions).toHaveLength(most)
  const over = readLine(lineOf(entry(most + 1)))
  expect(over).toMatchObject({ revisions: [], revisionsOmitted: most + 1 })
})

test('entries of another fleet do not fit, even where everything is chained anew', () => {
  const own = appendDecisions([decision(1), decision(2)], undefined, [], 1)!
  const replayed = appendDecisions([decision(3)], own.head, [], 2)!
  const unnamed = appendDecisions([decision(3)], own.head, [])!
  const said = (file: TrailFile) => verifyTrail([own.file, file]).problems.map(({ message }) => message)
  expect(said(appendDecisions([decision(3)], own.head, [], 1)!.file)).toEqual([])
  expect(said(replayed.file)).toEqual([
    'entry 3 is of the fleet with the id 2, and those before it are of the fleet with the id 1',
  ])
  expect(said(unnamed.file)).toEqual(['entry 3 names no fleet, and those before it are of the fleet with the id 1'])
  // entries of earlier releases name none, and those behind them do
  const old = appendDecisions([decision(1)], undefined, [])!
  const newer = appendDecisions([decision(2)], old.head, [], 1)!
  expect(verifyTrail([old.file, newer.file])).toMatchObject({ problems: [], fleet: 1 })
})

const HOSTILE = [
  'a\nb',
  '"},{"seq":9',
  '\u202e\u200b',
  '[x](https://evil.example) @acme/admins [skip ci]',
  'é',
  'e\u0301',
]

test.each(HOSTILE)('a name with %j stays one line and one entry, and its other spellings are not it', who => {
  const line = lineOf({ ...decision(1, { who }), seq: 1, previous: '0'.repeat(64) })
  expect(line.split('\n')).toHaveLength(1)
  expect(readLine(line)?.who).toBe(who)
  const spelled = line.replace(
    /"who":".*?(?<!\\)"/,
    `"who":"${[...who].map(char => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`).join('')}"`,
  )
  expect(JSON.parse(spelled).who).toBe(who)
  expect(readLine(spelled)).toBeUndefined()
})

test('fields of inner objects in another order, or twice, are another line', () => {
  const line = lineOf({ ...decision(1), seq: 1, previous: '0'.repeat(64) })
  const swapped = line.replace(/\{"repository":("[^"]+"),"commit":("[^"]+")\}/, '{"commit":$2,"repository":$1}')
  const twice = line.replace('{"repository":', '{"repository":"x","repository":')
  for (const other of [swapped, twice]) {
    expect(other).not.toBe(line)
    expect(readLine(other)).toBeUndefined()
  }
})

test('a trail that was cut off at its first entry is found by any place that was published', () => {
  const none = ANCHORS.map(anchor => verifyTrail([], [anchor]).problems.length)
  expect(none).toEqual(ANCHORS.map(() => 1))
  expect(verifyTrail(FILES.slice(1), ANCHORS).problems).not.toEqual([])
})

test('a trail that began anew beside the first is found by any place that was published', () => {
  const other = appendDecisions(
    Array.from({ length: ENTRIES }, (_, at) => decision(at + 500)),
    undefined,
    [],
  )!
  expect(verifyTrail([other.file]).problems).toEqual([])
  for (const anchor of ANCHORS) expect(verifyTrail([other.file], [anchor]).problems).toHaveLength(1)
})

test('a line of an earlier release keeps its bytes, with what its verdict was made from', () => {
  const line = lineOf({ ...decision(1, { engine: '5' }), seq: 1, previous: '0'.repeat(64) })
  expect(hashOfLine(line)).toBe('4cbb21abb2474f5c1f30aa49fa022c446c7991bc56637c103e067bb9cb059fa3')
  const inputs = {
    kind: 'branch',
    fleets: [{ earlierIsAll: false }],
    people: { approvals: [{ rule: 'r', by: 'max' }] },
  }
  const made = line.replace(/}$/, `,"inputs":${JSON.stringify(inputs)}}`)
  expect(readLine(made)?.inputs).toEqual(inputs)
  const changes = ['"inputs":{ ', '"inputs":{"kind":"x",', '"more":1,"inputs":{', '"inputs":1,"x":{']
  for (const change of changes) expect(readLine(made.replace('"inputs":{', change)), change).toBeUndefined()
  expect(readLine(line.replace(/}$/, ',"inputsOmitted":true}'))?.inputsOmitted).toBe(true)
})

test('a line that is nested too deep is not an entry', () => {
  const line = lineOf({ ...decision(1), seq: 1, previous: '0'.repeat(64) })
  const deep = line.replace(/}$/, `,"inputs":${'['.repeat(400_000)}${']'.repeat(400_000)}}`)
  expect(readLine(deep)).toBeUndefined()
})

test('an entry names artifacts by digest, and inputs that are too long are left out', () => {
  const revisions = [{ repository: 'oci://registry.example/apps', commit: `sha256:${'a'.repeat(64)}` }]
  const entry = { ...decision(1, { revisions }), seq: 1, previous: '0'.repeat(64) }
  expect(readLine(lineOf(entry))).toEqual(entry)
  const read = readLine(lineOf({ ...entry, inputs: { long: 'x'.repeat(1024 * 1024) } }))
  expect(read).toEqual({ ...entry, inputsOmitted: true })
})
