import { matchLines, splitLines } from './line-matches.ts'
import type { FileEntry, ObjectStore } from './store.ts'
import { flatten } from './trees.ts'

export interface FileChange {
  readonly path: string
  readonly status: 'added' | 'removed' | 'modified'
  readonly sha: string
  readonly additions: number
  readonly deletions: number
  /** Absent for binary files, as in GitHub's answers. */
  readonly patch?: string
}

/** What changes from one tree to another, in the order of paths. Renames are a removal and an addition. */
export function diffTrees(store: ObjectStore, from: string | undefined, to: string): FileChange[] {
  const before = from ? flatten(store, from) : new Map<string, FileEntry>()
  const after = flatten(store, to)
  const paths = [...new Set([...before.keys(), ...after.keys()])].sort()
  return paths.flatMap(path => {
    const [a, b] = [before.get(path), after.get(path)]
    if (a?.sha === b?.sha && a?.mode === b?.mode) return []
    const status = !a ? 'added' : !b ? 'removed' : 'modified'
    return [{ path, status, sha: (b ?? a)!.sha, ...diffOf(store, a, b) } as const]
  })
}

/** What differs between two blobs, by their ids: a review asks for each of its comments, and each delivery again. */
const known = new WeakMap<ObjectStore, Map<string, ReturnType<typeof diffText>>>()

function diffOf(store: ObjectStore, a: FileEntry | undefined, b: FileEntry | undefined) {
  const ofStore = known.get(store) ?? new Map<string, ReturnType<typeof diffText>>()
  known.set(store, ofStore)
  const key = `${a?.sha} ${b?.sha}`
  const found = ofStore.get(key) ?? diffText(text(store, a), text(store, b))
  ofStore.set(key, found)
  return found
}

function text(store: ObjectStore, entry: FileEntry | undefined): string | undefined {
  if (!entry) return ''
  const bytes = store.blob(entry.sha)
  if (!bytes || bytes.includes(0)) return undefined
  return Buffer.from(bytes).toString()
}

interface Line {
  readonly sign: ' ' | '-' | '+'
  readonly text: string
  readonly old: number
  readonly new: number
}

const CONTEXT = 3

function diffText(before: string | undefined, after: string | undefined) {
  if (before === undefined || after === undefined) return { additions: 0, deletions: 0 }
  const lines = [...script(splitLines(before), splitLines(after))]
  const additions = lines.filter(line => line.sign === '+').length
  const deletions = lines.filter(line => line.sign === '-').length
  return { additions, deletions, patch: hunks(lines).map(printHunk).join('\n') }
}

function* script(a: readonly string[], b: readonly string[]): Generator<Line> {
  let [i, j] = [0, 0]
  for (const [x, y] of [...matchLines(a, b), [a.length, b.length]] as const) {
    for (; i < x; i++) yield { sign: '-', text: a[i]!, old: i, new: j }
    for (; j < y; j++) yield { sign: '+', text: b[j]!, old: i, new: j }
    if (x < a.length) yield { sign: ' ', text: a[i++]!, old: x, new: j++ }
  }
}

function hunks(lines: readonly Line[]): Line[][] {
  const near = new Set<number>()
  for (const [index, line] of lines.entries()) {
    if (line.sign !== ' ') for (let n = -CONTEXT; n <= CONTEXT; n++) near.add(index + n)
  }
  const found: Line[][] = []
  for (const [index, line] of lines.entries()) {
    if (!near.has(index)) continue
    if (near.has(index - 1) && found.length > 0) found.at(-1)!.push(line)
    else found.push([line])
  }
  return found
}

function printHunk(hunk: readonly Line[]): string {
  const first = hunk[0]!
  const range = (start: number, sign: '-' | '+') => {
    const count = hunk.filter(line => line.sign !== sign).length
    return `${count === 0 ? start : start + 1}${count === 1 ? '' : `,${count}`}`
  }
  const body = hunk.map(line => {
    const ended = line.text.endsWith('\n')
    return line.sign + (ended ? line.text.slice(0, -1) : `${line.text}\n\\ No newline at end of file`)
  })
  return [`@@ -${range(first.old, '+')} +${range(first.new, '-')} @@`, ...body].join('\n')
}
