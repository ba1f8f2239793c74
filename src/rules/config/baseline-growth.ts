import { BailiwickError } from '../../errors.ts'
import type { EvaluatedRepository } from '../../facts/evaluated-repository.ts'
import type { Tree } from '../../git/tree.ts'
import { codeWord, message, plainText } from '../../message/message.ts'
import { asMessage } from '../../message/said.ts'
import { BASELINE_FILE, type Baseline, type BaselineEntry, baselineOf } from '../model/baseline.ts'
import type { Rule, Violation } from '../model/rule.ts'

const DOCS = message`Fix the finding, or ask a fleet admin to approve the new entry.`

/** What a change adds to the baseline file will not block any more once it is merged. */
export const baselineGrowth: Rule = {
  id: 'baseline-growth',
  severity: 'high',
  level: 'warning',
  title: 'New entry in the baseline file',
  why: 'A violation in the baseline file counts as existing: it blocks neither a branch nor an apply. An evaluation error in the file does not block while the content that could not be evaluated stays the same. A new entry accepts its finding for the whole fleet.',
  docs: plainText(DOCS),
  *checkRepository(repository) {
    const violation = grown(repository)
    if (violation) yield violation
  },
}

function grown({ isFleet, before, tree, url, nodes: [root] }: EvaluatedRepository): Violation | undefined {
  if (!isFleet || !before || !root || idIn(before) === idIn(tree)) return undefined
  const at = { node: root, object: root.kustomization, path: [] }
  const start = { repository: url, file: BASELINE_FILE, line: 1, column: 1 }
  const head = read(() => baselineOf(tree, url))
  if (head instanceof BailiwickError) {
    return {
      ...at,
      origin: head.origin ?? start,
      value: 'unreadable',
      level: 'error',
      message: asMessage(head.said ?? head.message),
      fix: asMessage(head.saidFix ?? head.fix ?? DOCS),
    }
  }
  // what could not be read counted for nothing
  const base = read(() => baselineOf(before, url))
  const known: Baseline = base instanceof BailiwickError ? new Map() : base
  const added = [...head.keys()].filter(fingerprint => !known.has(fingerprint))
  const wider = [...head].filter(([fingerprint, entry]) => isWider(entry, known.get(fingerprint)))
  const count = new Set([...added, ...wider.map(([fingerprint]) => fingerprint)]).size
  if (count === 0) return undefined
  return {
    ...at,
    origin: start,
    value: [...added].sort().join(' '),
    message: message`${codeWord(BASELINE_FILE)} has ${count} new ${count === 1 ? 'entry' : 'entries'}. After the merge, these findings no longer block.`,
    fix: DOCS,
  }
}

/** Whether an entry lets something else stand than it did: another severity, other bytes behind an error. */
function isWider(entry: BaselineEntry, known: BaselineEntry | undefined): boolean {
  if (known?.severity !== entry.severity || (known?.hides === undefined) !== (entry.hides === undefined)) return true
  return entry.hides?.some(digest => !known?.hides?.includes(digest)) === true
}

/** Beside the file itself a name that is easily taken for it counts. */
const idIn = (tree: Tree): string =>
  [BASELINE_FILE, BASELINE_FILE.replace(/yaml$/, 'yml')].map(path => tree.entry(path)?.id ?? '').join(' ')

function read(step: () => Baseline): Baseline | BailiwickError {
  try {
    return step()
  } catch (error) {
    if (error instanceof BailiwickError) return error
    throw error
  }
}
