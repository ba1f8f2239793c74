import type { SnapshotFile } from '../../../src/git/tree.ts'

/** What a history is rich in: edits of one text, moved and repeated blocks, manifests, changes of the tree, all of it. */
export type Shape = 'lines' | 'blocks' | 'yaml' | 'paths' | 'everything'

type Files = Map<string, SnapshotFile>
type Random = (below: number) => number

/** A base and what two sides made of it, by a number: the same one gives the same history. */
export function randomHistory(seed: number, shape: Shape): readonly [Files, Files, Files] {
  const random = randomFrom(seed)
  const base: Files = new Map()
  const count = shape === 'paths' || shape === 'everything' ? 1 + random(6) : 1
  for (let file = 0; file < count; file++) add(base, random, shape)
  const shared = random(3) === 0 ? edit(base, random, shape) : base
  return [base, edit(shared, random, shape), edit(shared, random, shape)]
}

/** Mulberry32. */
function randomFrom(seed: number): Random {
  let state = seed * 0x9e3779b1
  return below => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) % below
  }
}

const pick = <T>(random: Random, from: readonly T[]): T => from[random(from.length)]!

const NAMES = [
  'a',
  'b',
  'c',
  'd',
  'd/a',
  'd/b',
  'd/s/a',
  'e/a',
  'e/b',
  'a/x',
  'b.txt',
  'd.',
  'd-x',
  'A',
  'D/a',
  'd/.gitattributes',
] as const

function textOf(random: Random, shape: Shape): string {
  if (shape === 'yaml') {
    return Array.from({ length: 1 + random(6) }, (_, at) => manifest(random, at)).join('---\n')
  }
  const letters = shape === 'blocks' ? 3 : pick(random, [4, 12, 1000])
  const end = pick(random, ['\n', '\n', '\n', '\r\n'])
  const lines = Array.from({ length: random(shape === 'blocks' ? 24 : 14) }, () => `l${random(letters)}${end}`)
  const text = lines.join('')
  return random(6) === 0 ? text.slice(0, -1) : text
}

const manifest = (random: Random, at: number) =>
  `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: n${at}\n  namespace: t${random(2)}\ndata:\n  a: "${random(3)}"\n  b: "${random(3)}"\n`

function add(files: Files, random: Random, shape: Shape): void {
  const isTree = shape === 'paths' || shape === 'everything'
  const path = isTree ? pick(random, NAMES) : 'f'
  for (const other of [...files.keys()]) {
    // a file gives way to a directory and the other way round
    if (other.startsWith(`${path}/`) || path.startsWith(`${other}/`)) files.delete(other)
  }
  const kind = isTree ? random(14) : 0
  if (kind === 13) files.set(path, { path, mode: '120000', content: pick(random, ['a', '../x']) })
  else if (kind === 12) files.set(path, { path, mode: '160000', id: `${1 + random(3)}`.repeat(40), content: '' })
  else if (kind === 11) files.set(path, { path, mode: '100644', content: `\0${random(3)}\na\nb\nc\n` })
  else if (kind === 10) files.set(path, { path, mode: '100644', content: '' })
  else files.set(path, { path, mode: random(8) ? '100644' : '100755', content: textOf(random, shape) })
}

function edit(files: Files, random: Random, shape: Shape): Files {
  const made = new Map(files)
  for (let left = 1 + random(3); left > 0; left--) {
    const isTree = shape === 'paths' ? random(4) > 0 : shape === 'everything' && random(2) > 0
    const file = made.size > 0 ? pick(random, [...made.values()]) : undefined
    if (!file) add(made, random, shape)
    else if (isTree) editTree(made, file, random, shape)
    else if (file.mode === '100644' || file.mode === '100755') {
      made.set(file.path, { ...file, content: editText(String(file.content), random, shape) })
    }
  }
  return made
}

function editTree(files: Files, file: SnapshotFile, random: Random, shape: Shape): void {
  const what = random(7)
  if (what < 2) add(files, random, shape)
  else if (what === 2) files.delete(file.path)
  else if (what === 3 && file.mode !== '160000' && file.mode !== '120000') {
    files.set(file.path, { ...file, mode: file.mode === '100755' ? '100644' : '100755' })
  } else if (what < 6) {
    const path = pick(random, NAMES)
    if (
      path !== file.path &&
      [...files.keys()].some(other => other === path || other.startsWith(`${path}/`) || path.startsWith(`${other}/`))
    )
      return
    files.delete(file.path)
    files.set(path, { ...file, path })
  } else {
    // a directory is renamed
    for (const moved of [...files.values()].filter(({ path }) => path.startsWith('d/'))) {
      files.delete(moved.path)
      const path = `new${moved.path.slice(1)}`
      files.set(path, { ...moved, path })
    }
  }
}

function editText(text: string, random: Random, shape: Shape): string {
  const lines = text.match(/[^\n]*\n|[^\n]+$/g) ?? []
  const at = random(lines.length + 1)
  const length = Math.min(random(shape === 'yaml' ? 9 : 4), lines.length - at)
  const fresh = () => (shape === 'yaml' ? `  a: "${random(4)}"\n` : `l${random(shape === 'blocks' ? 3 : 6)}\n`)
  switch (random(6)) {
    case 0:
      lines.splice(at, length)
      break
    case 1:
      lines.splice(at, 0, ...Array.from({ length: 1 + random(3) }, fresh))
      break
    case 2: {
      const block = lines.slice(at, at + length)
      if (random(2)) lines.splice(at, length)
      lines.splice(random(lines.length + 1), 0, ...block)
      break
    }
    case 3:
      if (shape === 'yaml') lines.splice(at, 0, '---\n', manifest(random, random(9)))
      else lines.reverse()
      break
    default:
      lines.splice(at, 1, fresh())
  }
  const made = lines.join('')
  return random(12) === 0 ? made.replace(/\n$/, '') : made
}
