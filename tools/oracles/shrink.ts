import type { Fields, Value } from './generate/value.ts'
import { isFields } from './generate/value.ts'
import type { Trial } from './trial.ts'

/** How many smaller inputs are tried at most. */
const TRIES = 600

/**
 * A smaller input that still fails: without the files, the documents, the blocks of lines (a line with what is indented below it) and
 * the fields of the request that are not needed for it.
 */
export async function shrink(trial: Trial, stillFails: (smaller: Trial) => Promise<boolean>): Promise<Trial> {
  let best = trial
  let tries = 0
  for (let before: Trial | undefined; before !== best && tries < TRIES; ) {
    before = best
    const passes = [withoutFile, withoutDocument, withoutBlock, withoutField]
    for (const pass of passes) {
      for (let index = 0; tries < TRIES; ) {
        const smaller = pass(best, index)
        if (smaller === undefined) break
        tries++
        if (await stillFails(smaller)) best = smaller
        else index++
      }
    }
  }
  return best
}

function withoutFile(trial: Trial, index: number): Trial | undefined {
  const paths = Object.keys(trial.files)
  const path = paths[index]
  if (path === undefined) return undefined
  const { [path]: _, ...files } = trial.files
  return { ...trial, files }
}

function withoutDocument(trial: Trial, index: number): Trial | undefined {
  let before = 0
  for (const [path, content] of Object.entries(trial.files)) {
    const documents = typeof content === 'string' ? content.split(/^---\n/m) : []
    const own = documents.length > 1 ? documents.length : 0
    if (index - before < own) {
      const kept = documents.toSpliced(index - before, 1)
      return { ...trial, files: { ...trial.files, [path]: kept.join('---\n') } }
    }
    before += own
  }
  return undefined
}

/** Without the block that starts at the `index`-th line of all files. */
function withoutBlock(trial: Trial, index: number): Trial | undefined {
  let before = 0
  for (const [path, content] of Object.entries(trial.files)) {
    if (typeof content !== 'string') continue
    const lines = content.split('\n')
    const line = index - before
    if (line < lines.length) {
      const kept = [...lines.slice(0, line), ...lines.slice(line + blockLength(lines, line))]
      return { ...trial, files: { ...trial.files, [path]: kept.join('\n') } }
    }
    before += lines.length
  }
  return undefined
}

function blockLength(lines: readonly string[], start: number): number {
  const indent = (line: string) => line.search(/\S|$/)
  const first = lines[start]!
  let end = start + 1
  while (end < lines.length && lines[end] !== '' && indent(lines[end]!) > indent(first)) end++
  return end - start
}

function withoutField(trial: Trial, index: number): Trial | undefined {
  if (!trial.flux) return undefined
  const smaller = [...fewer(trial.flux)][index]
  return smaller === undefined ? undefined : { ...trial, flux: smaller as Fields }
}

/** Every value that is this one without one of its fields or items, at any depth. */
function* fewer(value: Value): Generator<Value> {
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) {
      yield value.toSpliced(index, 1)
      for (const smaller of fewer(item)) yield value.with(index, smaller)
    }
  } else if (isFields(value)) {
    for (const [key, child] of Object.entries(value)) {
      const { [key]: _, ...others } = value
      yield others
      for (const smaller of fewer(child)) yield { ...value, [key]: smaller }
    }
  }
}
