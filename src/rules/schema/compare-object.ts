import { type Message, message, part } from '../../base/message.ts'
import { probably } from '../../base/name-list.ts'
import { oncePer } from '../../base/once-per.ts'
import type { FleetIndex } from '../../fleet/facts/fleet-index.ts'
import { type FleetConfig, kubernetesVersion } from '../../fleet/model/fleet-config.ts'
import { fluxKind, fluxMinor, fluxVersions, NEWEST_FLUX } from '../../kube/flux-kinds.ts'
import { fluxMarks, NOT_CORRECTED } from '../../kube/flux-marks.ts'
import {
  at,
  canonical,
  type MapNode,
  type Node,
  type Path,
  textNode,
  withElement,
  withField,
  withoutField,
} from '../../kube/node.ts'
import { groupOf, idOf, type KubeObject, type ObjectId } from '../../kube/object.ts'
import { checkObject, type SchemaAnswer } from '../../schema/check-object.ts'
import type { Problem } from '../../schema/core/problem.ts'
import { checkCustom } from '../../schema/custom/check-custom.ts'
import { catalogued, type Definition, definitionOf } from '../../schema/custom/definition.ts'
import { NEWEST, VERSIONS } from '../../schema/types-table.ts'

/** What an object is compared with. */
export interface ComparedObject {
  readonly answer: SchemaAnswer
  /** What refuses: a version of Kubernetes, or a definition. */
  readonly server: () => Message
  /** The cluster certainly refuses what is reported. */
  readonly isCertain: boolean
  /** Where the version is assumed: what each version of the table, or of Flux, refuses. */
  readonly refusedByAll?: readonly Problem[]
  /** It is the catalog's definition, which may be of an older release than the cluster's. */
  readonly isCatalog: boolean
  /** Compares another content of the object in the same way, with every problem that a misspelled key causes. */
  readonly again: (root: MapNode) => SchemaAnswer
}

const UNKNOWN: SchemaAnswer = { problems: [], count: 0, isKnown: false }

/**
 * Compares an object with the types of a version of Kubernetes, else with the definition of its kind that the fleet
 * renders, else with the catalog's, which may be for another release than the cluster runs. `old`: the object before an
 * update.
 */
export function compareObject(
  object: KubeObject,
  version: ComparedVersion,
  definitions: (kind: string) => readonly KubeObject[],
  isDecrypted: boolean,
  old?: KubeObject,
): ComparedObject {
  const again = (root: MapNode) => compared({ ...object, root }, version, definitions, isDecrypted, old, true).answer
  return { ...compared(object, version, definitions, isDecrypted, old, false), again }
}

/** Number of keys of an object that are tried under another name: each compares the whole object again. */
const MAX_RENAMED = 5

/** A probably misspelled key is the cause of all problems that renaming it solves: no others are reported. */
function withoutMisspelled(answer: SchemaAnswer, root: MapNode, check: (root: MapNode) => SchemaAnswer): SchemaAnswer {
  if (answer.problems.length < 2) return answer
  const [causes, following] = [new Set<Problem>(), new Set<Problem>()]
  let left = MAX_RENAMED
  for (const problem of answer.problems) {
    const { kind, path, names = [] } = problem
    const name = kind === 'unknown-field' || kind === 'dropped-field' ? probably(String(path.at(-1)), names) : undefined
    const place = [...path.slice(0, -1), name ?? '']
    if (name === undefined || (at(root, place) !== undefined && !isMade(root, place))) continue
    if (left-- === 0) break
    const renamed = renamedKey(root, path, name)
    const after = renamed ? check(renamed).problems : answer.problems
    const stays = new Set(after.map(keyOfProblem))
    const gone = answer.problems.filter(one => one !== problem && !stays.has(keyOfProblem(one)))
    if (gone.length > 0) causes.add(problem)
    for (const one of gone) following.add(one)
  }
  const remaining = answer.problems.filter(one => causes.has(one) || !following.has(one))
  const problems = remaining.map((one): Problem => (causes.has(one) ? { ...one, kind: 'unknown-field' } : one))
  return { ...answer, problems, count: answer.count - (answer.problems.length - problems.length) }
}

/** Whether a field exists only because Go's types always write it. */
export function isMade(root: MapNode, place: Path): boolean {
  const parent = at(root, place.slice(0, -1))
  return parent?.type === 'map' && parent.fields.get(String(place.at(-1)))?.key === parent.origin
}

function compared(
  object: KubeObject,
  version: ComparedVersion,
  definitions: (kind: string) => readonly KubeObject[],
  isDecrypted: boolean,
  old: KubeObject | undefined,
  isRaw: boolean,
): Omit<ComparedObject, 'again'> {
  const { apiVersion, kind, name } = idOf(object)
  const group = groupOf(apiVersion)
  const own = ownDefinitions(definitions(`${group}/${kind}`))
  const catalog = own.length > 0 ? undefined : catalogued(group, kind)
  const compare = (definition: Definition, root = object.root) => {
    const check = (one: MapNode) => checkCustom(one, definition, { isDecrypted, old: old?.root })
    const answer = check(root)
    return isRaw ? answer : withoutMisspelled(answer, root, check)
  }
  const refused = own.length > 0 || name === '' ? undefined : fluxVersionRefusal(idOf(object), version.flux)
  if (refused && (refused.isCertain || !catalog)) return { ...refused, isCatalog: false }
  if (catalog) return comparedWithCatalog(object, catalog, refused, compare)
  const [last, ...others] = own.toReversed()
  if (last) {
    const server = () => ownName(last.definition)
    if (name === '') return { answer: UNKNOWN, server, isCertain: last.isApplied, isCatalog: false }
    const answer = compare(last.definition)
    return { ...comparedWithAll(answer, server, last, others, compare), isCatalog: false }
  }
  const isAssumed = !version.isCertain
  const check = (root: MapNode) =>
    checkObject(root, { version: version.minor, runs: version.runs, isAssumed, isDecrypted })
  const raw = check(object.root)
  const answer = isRaw ? raw : withoutMisspelled(raw, object.root, check)
  const refusedByAll =
    !isRaw && isAssumed && version.runs === undefined ? refusedIn(VERSIONS, object.root, answer, isDecrypted) : []
  return { answer, server: () => versionName(version), isCertain: version.isCertain, isCatalog: false, refusedByAll }
}

/** `refused`: why the assumed Flux does not serve its version, of which only what every version requires is known. */
function comparedWithCatalog(
  object: KubeObject,
  catalog: NonNullable<ReturnType<typeof catalogued>>,
  refused: ReturnType<typeof fluxVersionRefusal>,
  compare: (definition: Definition, root?: MapNode) => SchemaAnswer,
): Omit<ComparedObject, 'again'> {
  const { root } = object
  const { apiVersion, kind, name } = idOf(object)
  const group = groupOf(apiVersion)
  const flux = fluxKind(`${group}/${kind}`)
  const requires = flux?.requires
  // the cluster may serve what one release of a project does not
  const isOther = refused !== undefined || !catalog.served.includes(apiVersion.slice(apiVersion.indexOf('/') + 1))
  const served = textNode(`${group}/${catalog.served.at(-1)}`, root.origin)
  const isKnown = name !== '' && (!isOther || requires !== undefined)
  const whole = isKnown ? compare(catalog, isOther ? withField(root, 'apiVersion', served) : root) : UNKNOWN
  const needed = requiredProblems(whole.problems, root, requires)
  const refusedByAll = flux ? whole.problems.filter(one => needed.includes(one) || isMisspelled(one)) : needed
  const problems = [...(refused?.answer.problems ?? []), ...refusedByAll]
  const answer = isOther ? { problems, count: problems.length, isKnown: refused !== undefined } : whole
  const server = refused?.server ?? (() => catalogName(catalog))
  return { answer, server, isCertain: false, isCatalog: true, refusedByAll }
}

/** Fields of `spec` that only former versions have, and that resemble a later one. */
const FORMER_FIELDS: ReadonlySet<string> = new Set(['valuesFile'])

/** Whether no version of Flux has a field of `spec`, which resembles one that it has: a later Flux has none so alike. */
const isMisspelled = ({ kind, path, names = [] }: Problem): boolean => {
  const key = String(path.at(-1))
  return kind === 'unknown-field' && path[0] === 'spec' && !FORMER_FIELDS.has(key) && probably(key, names) !== undefined
}

/** What every version of Flux requires in `spec` and an object lacks: it is missing there, misspelled, or no duration. */
function requiredProblems(problems: readonly Problem[], root: MapNode, requires = ''): readonly Problem[] {
  const all = requires.split(' ').filter(Boolean)
  const isWritten = (name: string) => at(root, ['spec', ...name.split('.')]) !== undefined
  const missing = all.flatMap(names => {
    const [name = '', ...others] = names.split('|')
    const [around] = name.split(/\.[^.]+$/)
    return [name, ...others].some(isWritten) || (around !== name && !isWritten(around!)) ? [] : [name, ...others]
  })
  return problems.filter(({ kind, path: [part, ...inner], names = [] }) => {
    if (part !== 'spec') return false
    const name = inner.join('.')
    if (name === 'interval' && !missing.includes(name)) return all.includes(name)
    if (kind === 'missing-field') return name === '' || missing.includes(name)
    const meant = kind === 'unknown-field' ? probably(String(inner.at(-1)), names) : undefined
    return meant !== undefined && missing.includes([...inner.slice(0, -1), meant].join('.'))
  })
}

/** The problems that an object has in each of these versions. */
function refusedIn(
  versions: readonly number[],
  root: MapNode,
  { problems }: SchemaAnswer,
  isDecrypted: boolean,
): readonly Problem[] {
  return versions.reduce((left, version) => {
    if (left.length === 0) return left
    const check = (one: MapNode) => checkObject(one, { version, isDecrypted })
    const all = check(root)
    const isIn = (others: readonly Problem[]) => {
      const keys = new Set(others.map(keyOfProblem))
      return (one: Problem) => keys.has(keyOfProblem(one))
    }
    // what a misspelled key causes is only looked for where that makes a difference
    return left.every(isIn(all.problems)) ? left : left.filter(isIn(withoutMisspelled(all, root, check).problems))
  }, problems)
}

/** If a kind has several definitions, the cluster has the last one applied: only what all refuse is certain. */
function comparedWithAll(
  answer: SchemaAnswer,
  server: () => Message,
  last: OwnDefinition,
  others: readonly OwnDefinition[],
  compare: (definition: Definition) => SchemaAnswer,
): Omit<ComparedObject, 'isCatalog' | 'again'> {
  if (others.length === 0) return { answer, server, isCertain: last.isApplied }
  const all = [{ answer, server }]
  for (const { definition } of others) all.push({ answer: compare(definition), server: () => ownName(definition) })
  const refusing = all.filter(one => one.answer.problems.some(({ kind }) => !ACCEPTED.includes(kind)))
  return { ...(refusing[0] ?? all[0]!), isCertain: refusing.length === all.length && last.isApplied }
}

/** Equal for problems of one kind at one place. */
const keyOfProblem = ({ kind, path }: Problem) => JSON.stringify([kind, ...path])

interface OwnDefinition {
  readonly definition: Definition
  /** Flux applies it as it is rendered. */
  readonly isApplied: boolean
}

/** The readable definitions of one kind, each once, in their order. */
const ownDefinitions = oncePer((rendered: readonly KubeObject[]): readonly OwnDefinition[] => {
  if (rendered.length === 0) return NO_DEFINITIONS
  const different =
    rendered.length === 1
      ? rendered
      : [...new Map(rendered.map(object => [canonical(at(object.root, ['spec']) ?? object.root), object])).values()]
  return different.flatMap(object => {
    const definition = definitionOf(object.root)
    return definition ? [{ definition, isApplied: fluxMarks(object, NOT_CORRECTED).length === 0 }] : []
  })
})

const NO_DEFINITIONS: readonly OwnDefinition[] = []

const versionName = ({ minor, isCertain }: ComparedVersion): Message =>
  message`Kubernetes ${part('value', `1.${minor}`)}${isCertain ? '' : ' (assumed)'}`
const ownName = ({ kind }: Definition): Message => message`CustomResourceDefinition ${part('object', kind)}`
const catalogName = ({ kind }: Definition): Message => message`the catalog's definition of ${part('object', kind)}`

/** The version of Kubernetes whose types objects of a cluster are compared with, and of Flux. */
interface ComparedVersion {
  readonly minor: number
  /** The cluster's own version if the table does not have it; the cluster may serve kinds that later versions removed. */
  readonly runs?: number
  /** Whether the cluster certainly runs this version, because the fleet's file or objects of the platform declare it. */
  readonly isCertain: boolean
  /** The version of the cluster's Flux as it is written; undefined where that is not visible. */
  readonly flux?: string | undefined
}

/** The version from the fleet's file, else from objects of the platform, else the newest known version. */
export function comparedVersion(
  config: Pick<FleetConfig, 'kubernetes'>,
  index: Pick<FleetIndex, 'derivedVersion' | 'cluster'>,
  cluster: string,
): ComparedVersion {
  const flux = index.cluster(cluster)?.lockdown.flux?.version
  const minor = kubernetesVersion(config, cluster) ?? index.derivedVersion(cluster)
  if (minor === undefined) return { minor: NEWEST, isCertain: false, flux }
  const [oldest = NEWEST] = VERSIONS
  // the closest version of the table stands for one that it lacks
  const known = Math.min(Math.max(minor, oldest), NEWEST)
  return known === minor ? { minor, isCertain: true, flux } : { minor: known, runs: minor, isCertain: false, flux }
}

/**
 * What Flux's own definitions say of the API version of an object, where the fleet does not render them: that a version of Flux,
 * or none at all, serves it. Undefined where it is served, or where that is not known. `version`: of the cluster's Flux.
 */
function fluxVersionRefusal(
  { apiVersion, kind }: ObjectId,
  version: string | undefined,
): { readonly answer: SchemaAnswer; readonly server: () => Message; readonly isCertain: boolean } | undefined {
  const group = groupOf(apiVersion)
  const row = fluxKind(`${group}/${kind}`)
  if (!row?.served || !isFlux2(version)) return undefined
  const minor = fluxMinor(version)
  const name = apiVersion.slice(apiVersion.indexOf('/') + 1)
  const [first, last] = Object.hasOwn(row.served, name) ? row.served[name]! : []
  if (fluxVersions(row, minor).includes(name)) return undefined
  // a newer Flux than those of the table may serve what they do not
  if (first === undefined && minor !== undefined && minor > NEWEST_FLUX) return undefined
  const names = fluxVersions(row, minor).map(one => `${group}/${one}`)
  const problem = {
    kind: 'unknown-kind',
    path: ['apiVersion'],
    allowed: names.join(', '),
    found: 'a version that is not served',
    names,
    ...(last !== undefined && last < (minor ?? NEWEST_FLUX) ? { until: `2.${last}` } : {}),
    ...(first !== undefined && first > (minor ?? NEWEST_FLUX) ? { since: `2.${first}` } : {}),
  } as const
  const server = () =>
    first === undefined && minor === undefined
      ? message`Flux`
      : message`Flux ${part('value', `2.${minor ?? NEWEST_FLUX}`)}${minor === undefined ? ' (assumed)' : ''}`
  const answer = { problems: [problem], count: 1, isKnown: true }
  return { answer, server, isCertain: minor !== undefined || first === undefined }
}

/** Other major versions, and versions that are not numbers, are not known. */
const isFlux2 = (version: string | undefined) => version === undefined || /^\D*2(?:\D|$)/.test(version)

/** An object in which the key at a path, also one that Flux drops, has another name; undefined where it has no value. */
export function renamedKey(root: MapNode, path: Path, name: string): MapNode | undefined {
  const [start, key] = [path.slice(0, -1), String(path.at(-1))]
  const parent = at(root, start)
  const value = parent?.type === 'map' ? (parent.fields.get(key) ?? parent.dropped?.get(key))?.value : undefined
  if (parent?.type !== 'map' || value === undefined) return undefined
  return replacedAt(root, start, withField(withoutKey(parent, key), name, value)) as MapNode
}

function withoutKey(map: MapNode, key: string): MapNode {
  const { dropped, ...rest } = withoutField(map, key)
  const left = new Map([...(dropped ?? [])].filter(([name]) => name !== key))
  return left.size > 0 ? { ...rest, dropped: left } : rest
}

function replacedAt(node: Node, [step, ...rest]: Path, value: Node): Node {
  if (step === undefined) return value
  const child = at(node, [step])
  if (!child) return node
  if (node.type === 'map') return withField(node, String(step), replacedAt(child, rest, value))
  return node.type === 'list' ? withElement(node, Number(step), replacedAt(child, rest, value)) : node
}

/** The API server accepts an object with one of these problems. */
export const ACCEPTED: readonly Problem['kind'][] = ['dropped-field', 'dropped-labels', 'deprecated-version']
