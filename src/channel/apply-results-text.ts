import type { AppliedNode, AppliedObject } from '../report/apply-report.ts'
import type { DriftNote } from '../report/drift-note.ts'
import { type ApplyResults, RESULT_LIMITS } from './apply-results.ts'

interface Fit {
  /** Characters of each text. */
  readonly text: number
  /** How many refused objects each node keeps, and no others; absent: all objects. */
  readonly refused?: number
}

/** From the most to the least that a report says. */
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
