import { createHash, hash } from 'node:crypto'
import { BailiwickError } from '../../base/errors.ts'
import { oncePer } from '../../base/once-per.ts'
import { at, canonical } from '../../kube/node.ts'
import { groupOf, type Hole, idOf, type KubeObject } from '../../kube/object.ts'
import type { FleetNode, NodeSource } from './fleet.ts'
import { revisionKey } from './input.ts'
import type { SourceAccess, SourceDeclaration } from './source-access.ts'

/** Whether two nodes are the same but for what they render and the commits that it came from, which no rule reads. */
export function sameButObjects(a: FleetNode, b: FleetNode): boolean {
  return (
    a.key === b.key &&
    a.kustomization === b.kustomization &&
    a.cluster === b.cluster &&
    a.namespace === b.namespace &&
    a.name === b.name &&
    a.parent === b.parent &&
    a.tenant === b.tenant &&
    a.path === b.path &&
    a.suspend === b.suspend &&
    a.prune === b.prune &&
    a.inputs === b.inputs &&
    a.values === b.values &&
    sameDeep(a.needs, b.needs) &&
    a.unknown === b.unknown &&
    a.inVersions === b.inVersions &&
    a.identity.user === b.identity.user &&
    a.identity.impersonated === b.identity.impersonated &&
    (a.digest === '') === (b.digest === '') &&
    sameTexts(a.dependsOn, b.dependsOn) &&
    sameTexts(a.hides, b.hides) &&
    sameSource(a.source, b.source) &&
    sameCharts(a.charts, b.charts) &&
    sameHoles(a.holes, b.holes) &&
    sameError(a.error, b.error)
  )
}

/** Whether two nodes are the same in everything. */
export function sameNode(a: FleetNode, b: FleetNode): boolean {
  if (a === b) return true
  const sameObjects = a.digest === b.digest && a.objects === b.objects && sameRetained(a, b)
  return sameButObjects(a, b) && sameObjects && commits(a) === commits(b)
}

interface Retaining {
  readonly retained?: FleetNode['retained'] | undefined
}

/** Whether the very same objects of last complete builds still count. */
export function sameRetained({ retained: a }: Retaining, { retained: b }: Retaining): boolean {
  if (a === b) return true
  return a?.length === b?.length && (a ?? []).every((object, index) => object === b?.[index])
}

const commits = ({ source, charts }: FleetNode): string =>
  [source, ...(source.includes ?? []), ...(charts ?? [])].map(revisionKey).join(' ')

function sameTexts(a: readonly string[] | undefined, b: readonly string[] | undefined): boolean {
  if (a === b) return true
  return a?.length === b?.length && (a ?? []).every((text, index) => text === b?.[index])
}

function sameSource(a: NodeSource, b: NodeSource): boolean {
  return a === b || withoutCommit(a) === withoutCommit(b)
}

function sameCharts(a: FleetNode['charts'], b: FleetNode['charts']): boolean {
  if (a === b) return true
  return a?.length === b?.length && (a ?? []).every((one, index) => withoutCommit(one) === withoutCommit(b![index]!))
}

function withoutCommit({ commit: _c, tag: _t, originRevision: _o, includes, ...rest }: NodeSource): string {
  const parts = includes?.map(({ commit: _commit, ...one }) => one)
  return JSON.stringify([rest, parts])
}

function sameHoles(a: FleetNode['holes'] = [], b: FleetNode['holes'] = []): boolean {
  return a.length === b.length && a.every((hole, index) => sameHole(hole, b[index]!))
}

function sameHole(a: Hole, b: Hole): boolean {
  return a.fatal === b.fatal && a.effect === b.effect && a.hides === b.hides && sameError(a.error, b.error)
}

function sameError(a: BailiwickError | undefined, b: BailiwickError | undefined): boolean {
  if (a === b) return true
  if (!a || !b) return false
  const textOf = ({ code, message, origin, fix, rule }: BailiwickError) =>
    JSON.stringify([code, message, origin ?? null, fix ?? null, rule ?? null])
  return textOf(a) === textOf(b)
}

/** Whether two values of plain data are the same in every part: nodes with all their origins, maps in the same order. */
export function sameDeep(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false
  if (Array.isArray(a)) return Array.isArray(b) && sameList(a, b)
  if (a instanceof Map) return b instanceof Map && sameMap(a, b)
  if (a instanceof Set) return b instanceof Set && sameList([...a], [...b])
  if (a instanceof BailiwickError) return b instanceof BailiwickError && a.message === b.message && sameFields(a, b)
  return Object.getPrototypeOf(a) === Object.getPrototypeOf(b) && sameFields(a, b)
}

function sameList(a: readonly unknown[], b: readonly unknown[]): boolean {
  return a.length === b.length && a.every((item, index) => sameDeep(item, b[index]))
}

function sameMap(a: ReadonlyMap<unknown, unknown>, b: ReadonlyMap<unknown, unknown>): boolean {
  if (a.size !== b.size) return false
  const others = b.entries()
  for (const [key, value] of a) {
    const [otherKey, other] = others.next().value!
    if (key !== otherKey || !sameDeep(value, other)) return false
  }
  return true
}

function sameFields(a: object, b: object): boolean {
  const keys = Object.keys(a)
  if (keys.length !== Object.keys(b).length) return false
  return keys.every(key => Object.hasOwn(b, key) && sameDeep(a[key as never], b[key as never]))
}

/**
 * Whether two versions of one object of Flux say the same to its controllers. Labels and annotations, which every
 * Kustomization may add to what it renders, are no part of that.
 */
export function isSameSpec(one: KubeObject, other: KubeObject): boolean {
  const [first, second] = [one, other].map(({ root }) => at(root, ['spec']))
  return (first ? canonical(first) : '') === (second ? canonical(second) : '')
}

/** The same for all versions of one object. */
export function versionlessKey(object: KubeObject): string {
  const { apiVersion, kind, namespace, name } = idOf(object)
  return [groupOf(apiVersion), kind, namespace, name].join('\0')
}

/** Whether two fleets declare the same about their sources. */
export function sameAccess(one: SourceAccess | undefined, other: SourceAccess | undefined): boolean {
  if (one === other) return true
  if (!one || !other) return false
  return (
    sameSets(one.platform, other.platform) &&
    sameSets(one.charts, other.charts) &&
    sameMaps(one.follows, other.follows, (a, b) => a === b) &&
    sameMaps(one.declarations, other.declarations, sameDeclaration)
  )
}

const sameSets = (one: ReadonlySet<string>, other: ReadonlySet<string>): boolean =>
  one.size === other.size && [...one].every(key => other.has(key))

function sameMaps<T>(
  one: ReadonlyMap<string, T>,
  other: ReadonlyMap<string, T>,
  same: (a: T, b: T) => boolean,
): boolean {
  if (one.size !== other.size) return false
  for (const [key, value] of one) {
    const known = other.get(key)
    if (known === undefined || !same(value, known)) return false
  }
  return true
}

function sameDeclaration(a: SourceDeclaration, b: SourceDeclaration): boolean {
  const place = ({ origin }: SourceDeclaration) =>
    JSON.stringify([origin.repository, origin.file, origin.line, origin.column])
  return (
    a.text === b.text &&
    a.tenant === b.tenant &&
    a.node === b.node &&
    a.refused === b.refused &&
    a.adopted === b.adopted &&
    a.gated === b.gated &&
    place(a) === place(b)
  )
}

/** Canonical text of each object; the same list is written only once. */
export const objectTexts = oncePer((objects: readonly KubeObject[]): readonly string[] => objects.map(textOf))
const textOf = oncePer(({ root }: KubeObject) => canonical(root))

/** Characters that are put together to be hashed at once, which is far cheaper than text by text. */
const MAX_AT_ONCE = 1024 * 1024

/** SHA-256 over canonical texts in order. No text contains a line break (JSON escapes it), so the parts cannot run together. */
export function digestOfTexts(texts: readonly string[]): string {
  let length = 0
  for (const text of texts) length += text.length
  if (length <= MAX_AT_ONCE) return hash('sha256', texts.length === 0 ? '' : `${texts.join('\n')}\n`)
  const stream = createHash('sha256')
  for (const text of texts) stream.update(text).update('\n')
  return stream.digest('hex')
}
