import { createHash } from 'node:crypto'
import type { Origin } from '../../base/origin.ts'
import { stablePath } from '../../kube/field-lines.ts'
import { originAt, type Path, stringAt } from '../../kube/node.ts'
import { groupOf, idOf, type KubeObject, type ObjectId } from '../../kube/object.ts'

/** 32 hex digits over parts. */
export function hashOf(parts: readonly string[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 32)
}

/** Where something is written, as a part of what identifies a cause. */
export const placeText = (origin: Origin | undefined): string =>
  origin === undefined ? '' : `${origin.repository} ${origin.file}:${origin.line}`

/**
 * Identity of a violation across commits: rule, cluster, tenant, object, field (list items by what identifies them) and
 * value; never file, line or version. Another value in the same field is another violation.
 */
export function fingerprintOf(
  at: { readonly rule: string; readonly cluster: string; readonly tenant: string },
  object: KubeObject,
  path: Path,
  value: string,
): string {
  const { apiVersion, kind, namespace, name } = idOf(object)
  const what = [groupOf(apiVersion), kind, namespace, name, stablePath(object.root, path), value]
  return hashOf([at.rule, at.cluster, at.tenant, ...what])
}

/** What happens to an object is the cause of what is found about those that need it. */
export const objectCause = ({ kind, namespace, name }: Pick<ObjectId, 'kind' | 'namespace' | 'name'>): string =>
  hashOf(['object', kind, namespace, name])

/** The line of a transformer that writes an object's namespace: all that it reaches moves at once. */
export function moveCause({ root }: KubeObject): string | undefined {
  const place = originAt(root, ['metadata', stringAt(root, ['kind']) === 'Namespace' ? 'name' : 'namespace'])
  return place.file === root.origin.file ? undefined : hashOf(['moved', placeText(place)])
}

/**
 * What wrote the offending value of a violation, whatever objects it reached: rule, place, name of the field and value.
 * Where objects have the field elsewhere, its name is the same.
 */
export function writtenBy(rule: string, { repository, file, line, column }: Origin, path: Path, value: string): string {
  const name = path.findLast(step => typeof step === 'string') ?? ''
  return hashOf(['cause', rule, repository, file, `${line}:${column}`, String(name), value])
}

/**
 * Identity of what could not be evaluated: code, repository, file and what the message says; `about`: the object and field,
 * where the place in the file is not enough. Never line, node or cluster.
 */
export function causeOf(
  { code, message }: { readonly code: string; readonly message: string },
  { repository, file }: Pick<Origin, 'repository' | 'file'>,
  about: readonly string[] = [],
): string {
  return hashOf(['error', code, repository, file, ...about, withoutPositions(message)])
}

/** A message without what moves when lines are added: `file.yaml:12:3`, `line 12`. */
export function withoutPositions(message: string): string {
  return message.replace(/:\d+(:\d+)?/g, '').replace(/\b(line|column) \d+/g, '$1')
}

/** Accounts of a namespace own a Capsule Tenant no longer, and with it what owners may have. */
export const lostCause = (home: string): string => hashOf(['owner lost', home])

/** A Kustomization, by the key of its node, builds what it must not: the cause of all that is found in it, on each cluster. */
export const contentCause = (node: string): string => hashOf(['content', ...node.split('/').slice(-2)])
