import { type AppliedNode, type AppliedObject, type DriftNote, READY_REASONS } from '../../report/apply-report.ts'
import { JsonReader } from './json-reader.ts'

/** The result of one revision set on one cluster, as its worker reports it. */
export interface ApplyResults {
  /** As the work named it. */
  readonly revisionSet: string
  /** The run has not ended: nodes that are not in `applied` are still to come. */
  readonly isRunning: boolean
  readonly applied: readonly AppliedNode[]
  /** When nodes that failed are tried again. */
  readonly retries: readonly Retry[]
  /** What others changed on the cluster, and the worker put back, the latest first. */
  readonly drift: readonly DriftNote[]
  /** Why the run as a whole ended early. */
  readonly failure?: string
}

interface Retry {
  /** Key of the node. */
  readonly key: string
  /** ISO time. */
  readonly at: string
}

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
const OUTCOMES = ['applied', 'held', 'failed'] as const
const ACTIONS = ['created', 'configured', 'unchanged', 'skipped', 'pruned', 'withheld', 'refused'] as const
const CHANGES = ['changed', 'deleted'] as const

/**
 * Reads what the worker of a cluster sent, which may be anything; drops fields that are not listed here.
 * attributeResults checks that its nodes are of its own cluster. Throws `cluster-invalid` naming what is wrong.
 */
export function parseApplyResults(text: string): ApplyResults {
  const results = JsonReader.parse(text, 'results')
  const failure = results.optional('failure')?.text(RESULT_LIMITS.text)
  let left: number = RESULT_LIMITS.objects
  const applied = new Map<string, AppliedNode>()
  for (const one of results.field('applied').list(RESULT_LIMITS.nodes)) {
    const objects = one.field('objects').list(left)
    left -= objects.length
    // the last one of a key counts
    applied.set(one.field('key').text(RESULT_LIMITS.name, KEY), readNode(one, objects))
  }
  return {
    revisionSet: results.field('revisionSet').text(200),
    isRunning: results.field('isRunning').flag(),
    applied: [...applied.values()],
    retries: results.field('retries').list(RESULT_LIMITS.nodes).map(readRetry),
    drift: results.field('drift').list(RESULT_LIMITS.drift).map(readDrift),
    ...(failure === undefined ? {} : { failure }),
  }
}

function readNode(one: JsonReader, objects: readonly JsonReader[]): AppliedNode {
  return {
    key: one.field('key').text(RESULT_LIMITS.name, KEY),
    user: one.field('user').text(RESULT_LIMITS.name),
    outcome: one.field('outcome').oneOf(OUTCOMES),
    ...textOf(one, 'reason'),
    ...readyOf(one),
    ...textOf(one, 'note'),
    objects: objects.map(readObject),
  }
}

function readyOf(one: JsonReader): Pick<AppliedNode, 'ready'> {
  const ready = one.optional('ready')?.oneOf(READY_REASONS)
  return ready === undefined ? {} : { ready }
}

function readObject(one: JsonReader): AppliedObject {
  const fields = one.optional('fields')?.list(RESULT_LIMITS.fields)
  return {
    object: readId(one),
    action: one.field('action').oneOf(ACTIONS),
    ...textOf(one, 'message'),
    ...(fields ? { fields: fields.map(name => ({ field: name.field('field').text(RESULT_LIMITS.name) })) } : {}),
  }
}

function readId(one: JsonReader): AppliedObject['object'] {
  const object = one.field('object')
  const name = (key: string) => object.field(key).text(RESULT_LIMITS.name)
  return { apiVersion: name('apiVersion'), kind: name('kind'), namespace: name('namespace'), name: name('name') }
}

function readRetry(one: JsonReader): Retry {
  return { key: one.field('key').text(RESULT_LIMITS.name, KEY), at: one.field('at').text(24, TIME) }
}

function readDrift(one: JsonReader): DriftNote {
  const names = (key: 'fields' | 'managers') =>
    one
      .field(key)
      .list(RESULT_LIMITS[key])
      .map(name => name.text(RESULT_LIMITS.name))
  return {
    node: one.field('node').text(RESULT_LIMITS.name, KEY),
    object: readId(one),
    change: one.field('change').oneOf(CHANGES),
    fields: names('fields'),
    managers: names('managers'),
    count: one.field('count').whole(),
    first: one.field('first').text(24, TIME),
    last: one.field('last').text(24, TIME),
  }
}

function textOf<K extends string>(one: JsonReader, key: K): { [P in K]?: string } {
  const text = one.optional(key)?.text(RESULT_LIMITS.text)
  return (text === undefined ? {} : { [key]: text }) as { [P in K]?: string }
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

function fittedTo({ applied, retries, drift, failure, ...results }: ApplyResults, fit: Fit): ApplyResults {
  const { nodes, drift: notes } = RESULT_LIMITS
  return {
    ...results,
    applied: applied.slice(0, nodes).map(one => fittedNode(one, fit)),
    retries: retries.slice(0, nodes),
    drift: drift.slice(0, notes).map(fittedDrift),
    ...(failure === undefined ? {} : { failure: clip(failure, fit.text) }),
  }
}

function fittedNode({ reason, note, user, objects, place: _, ...node }: AppliedNode, fit: Fit): AppliedNode {
  const kept =
    fit.refused === undefined ? objects : objects.filter(({ action }) => action === 'refused').slice(0, fit.refused)
  const left = objects.length - kept.length
  const notes = [
    ...(left > 0 ? [`${left} of ${objects.length} objects are left out: the report would be too large`] : []),
    ...(note === undefined ? [] : [note]),
  ]
  return {
    ...node,
    user: clip(user, RESULT_LIMITS.name),
    ...(reason === undefined ? {} : { reason: clip(reason, fit.text) }),
    ...(notes.length === 0 ? {} : { note: clip(notes.join('; '), fit.text) }),
    objects: kept.map(one => fittedObject(one, fit)),
  }
}

function fittedObject({ object, action, message, fields }: AppliedObject, { text }: Fit): AppliedObject {
  const names = fields?.slice(0, RESULT_LIMITS.fields).map(({ field }) => ({ field: clip(field, RESULT_LIMITS.name) }))
  return {
    object: fittedId(object),
    action,
    ...(message === undefined ? {} : { message: clip(message, text) }),
    ...(names === undefined ? {} : { fields: names }),
  }
}

function fittedDrift({ fields, managers, object, ...note }: DriftNote): DriftNote {
  const names = (list: readonly string[], most: number) => list.slice(0, most).map(one => clip(one, RESULT_LIMITS.name))
  return {
    ...note,
    object: fittedId(object),
    fields: names(fields, RESULT_LIMITS.fields),
    managers: names(managers, RESULT_LIMITS.managers),
  }
}

function fittedId({ apiVersion, kind, namespace, name }: AppliedObject['object']): AppliedObject['object'] {
  const short = (text: string) => clip(text, RESULT_LIMITS.name)
  return { apiVersion: short(apiVersion), kind: short(kind), namespace: short(namespace), name: short(name) }
}

const clip = (text: string, most: number): string => (text.length <= most ? text : `${text.slice(0, most - 1)}…`)
