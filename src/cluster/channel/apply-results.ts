import { type AppliedNode, READY_REASONS } from '../../report/apply-report.ts'
import { flag, list, type MessageShape, map, oneOf, optional, type Read, readJson, text, whole } from './shape.ts'

/** What a report may hold. A worker sends no more; the web process refuses a report that has more. */
export const RESULT_LIMITS = {
  bytes: 16 * 1024 * 1024,
  nodes: 50_000,
  /** Of all nodes together. */
  objects: 200_000,
  drift: 200,
  fields: 10,
  managers: 5,
  /** Characters of a reason, message or note. */
  text: 20_000,
  /** Characters of a part of an object's name, of a field and of a manager. */
  name: 600,
} as const

/** `<cluster>/<namespace>/<name>`, in the characters that src/fleet/model/fleet.ts leaves. */
const KEY = /^[a-z0-9-]{1,63}\/[\w.:?-]{0,253}\/[\w.:?-]{1,253}$/
const TIME = /^20\d\d-[01]\d-[0-3]\dT[0-2]\d:[0-5]\d:[0-5]\d(?:\.\d{1,3})?Z$/

/** What a report is made of. `words`: characters of a reason, message or note. */
function shapeOf(read: { readonly text: typeof text; readonly list: typeof list }, words: number = RESULT_LIMITS.text) {
  const name = read.text(RESULT_LIMITS.name)
  const key = read.text(RESULT_LIMITS.name, KEY)
  const time = read.text(24, TIME)
  const prose = optional(read.text(words))
  const object = map({ apiVersion: name, kind: name, namespace: name, name })
  const applied = map({
    object,
    action: oneOf(['created', 'configured', 'unchanged', 'skipped', 'pruned', 'withheld', 'refused']),
    message: prose,
    fields: optional(read.list(RESULT_LIMITS.fields, map({ field: name }))),
  })
  const node = map({
    key,
    user: name,
    outcome: oneOf(['applied', 'held', 'failed']),
    reason: prose,
    ready: optional(oneOf(READY_REASONS)),
    note: prose,
    objects: read.list(RESULT_LIMITS.objects, applied),
  })
  const drift = map({
    node: key,
    object,
    change: oneOf(['changed', 'deleted']),
    fields: read.list(RESULT_LIMITS.fields, name),
    managers: read.list(RESULT_LIMITS.managers, name),
    count: whole(),
    first: time,
    last: time,
  })
  return map({
    /** As the work named it. */
    revisionSet: read.text(200),
    /** The run has not ended: nodes that are not in `applied` are still to come. */
    isRunning: flag,
    applied: read.list(RESULT_LIMITS.nodes, node) as MessageShape<readonly AppliedNode[]>,
    /** When nodes that failed are tried again. */
    retries: read.list(RESULT_LIMITS.nodes, map({ key, at: time })),
    /** What others changed on the cluster, and the worker put back, the latest first. */
    drift: read.list(RESULT_LIMITS.drift, drift),
    /** Why the run as a whole ended early. */
    failure: prose,
  })
}

/** The result of one revision set on one cluster, as its worker reports it. */
export type ApplyResults = Read<ReturnType<typeof shapeOf>>

const RECEIVED = shapeOf({ text, list })

/**
 * Reads what the worker of a cluster sent, which may be anything; drops fields that are not listed here.
 * attributeResults checks that its nodes are of its own cluster. Throws `cluster-invalid` naming what is wrong.
 */
export function parseApplyResults(sent: string): ApplyResults {
  const results = readJson(sent, 'results', RECEIVED)
  const objects = results.applied.flatMap(one => one.objects)
  list(RESULT_LIMITS.objects, value => value)(objects, 'results.applied: objects')
  // the last one of a key counts
  return { ...results, applied: [...new Map(results.applied.map(one => [one.key, one])).values()] }
}

interface Fit {
  /** Characters of each text. */
  readonly text: number
  /** How many refused objects each node keeps, and no others; absent: all objects. */
  readonly refused?: number
}

/** From the most to the least severe. */
const FITS: readonly Fit[] = [{ text: RESULT_LIMITS.text }, { text: 1_000, refused: 5 }, { text: 200, refused: 0 }]

/**
 * Results as they are sent, within what the web process takes: texts that are too long are cut, and a report that is too large
 * keeps what became of each node, with a note of how many objects are left out.
 */
export function applyResultsText(results: ApplyResults): string {
  const [first, ...less] = FITS.filter(fit => mayFit(results, fit))
  let text = JSON.stringify(fittedTo(results, first ?? FITS.at(-1)!))
  for (const fit of less) {
    if (Buffer.byteLength(text) <= RESULT_LIMITS.bytes) break
    text = JSON.stringify(fittedTo(results, fit))
  }
  return text
}

/** Whether it is worth writing: counted before a text is made that may be larger than the memory. */
function mayFit({ applied }: ApplyResults, { text, refused = Number.POSITIVE_INFINITY }: Fit): boolean {
  let objects = 0
  let bytes = 0
  const longest = (some = '') => Math.min(some.length, text)
  for (const node of applied) {
    const kept = refused === Number.POSITIVE_INFINITY ? node.objects : node.objects.slice(0, refused)
    objects += kept.length
    bytes += longest(node.reason) + longest(node.note)
    for (const { message, fields = [] } of kept) {
      bytes += longest(message)
      for (const { field } of fields) bytes += field.length
    }
  }
  return objects <= RESULT_LIMITS.objects && bytes <= RESULT_LIMITS.bytes
}

function fittedTo(results: ApplyResults, { text: words, refused }: Fit): ApplyResults {
  const applied = refused === undefined ? results.applied : results.applied.map(one => onlyRefused(one, refused))
  const cut = {
    text: (most: number) => (value: unknown) => clip(String(value), most),
    list: <T>(most: number, shape: MessageShape<T>): MessageShape<readonly T[]> => list(most, shape, true),
  }
  return shapeOf(cut, words)({ ...results, applied }, 'results')
}

function onlyRefused({ note, objects, ...node }: AppliedNode, most: number): AppliedNode {
  const kept = objects.filter(({ action }) => action === 'refused').slice(0, most)
  const left = objects.length - kept.length
  const notes = [
    ...(left > 0 ? [`${left} of ${objects.length} objects are left out: the report would be too large`] : []),
    ...(note === undefined ? [] : [note]),
  ]
  return { ...node, ...(notes.length === 0 ? {} : { note: notes.join('; ') }), objects: kept }
}

const clip = (text: string, most: number): string => (text.length <= most ? text : `${text.slice(0, most - 1)}…`)
