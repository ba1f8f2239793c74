import { type AppliedNode, type AppliedObject, READY_REASONS } from '../report/apply-report.ts'
import type { DriftNote } from '../report/drift-note.ts'
import { JsonReader } from './json-reader.ts'

/** What became of one revision set on one cluster, as its worker says. */
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

/** `<cluster>/<namespace>/<name>`, in the characters that src/fleet/model/node-key.ts leaves. */
const KEY = /^[a-z0-9-]{1,63}\/[\w.:?-]{0,253}\/[\w.:?-]{1,253}$/
const TIME = /^20\d\d-[01]\d-[0-3]\dT[0-2]\d:[0-5]\d:[0-5]\d(?:\.\d{1,3})?Z$/
const OUTCOMES = ['applied', 'held', 'failed'] as const
const ACTIONS = ['created', 'configured', 'unchanged', 'skipped', 'pruned', 'withheld', 'refused'] as const
const CHANGES = ['changed', 'deleted'] as const

/**
 * Reads what the worker of a cluster sent, which may be anything: fields that are not listed here are dropped. Whether it speaks
 * of nodes of its own cluster only is checked by attributeResults. Throws `cluster-invalid` naming what is wrong.
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
