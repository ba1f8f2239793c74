import { BailiwickError, unlessRefused } from '../../base/errors.ts'
import { codeWord, message, part } from '../../base/message.ts'
import { oncePer } from '../../base/once-per.ts'
import type { Origin } from '../../base/origin.ts'
import type { Artifact } from '../../flux/artifact.ts'
import {
  type FindVariableSource,
  holderOf,
  type MadeSource,
  plainVariable,
  type SourceKind,
  unknownVariable,
  type Variable,
  type VariableSource,
  type Variables,
  variablesOf,
} from '../../flux/substitute/variables.ts'
import { fluxMarks, NOT_CORRECTED } from '../../kube/flux-marks.ts'
import { at, canonical, isTrue, itemsOf, type MapNode, type Node, type ScalarNode, stringAt } from '../../kube/node.ts'
import { groupOf, idOf, type KubeObject } from '../../kube/object.ts'
import { hasSopsMark, type SopsFormat, sopsFormatOf } from '../../kube/sops.ts'
import {
  type ClusterValues,
  type FleetNode,
  type Lockdown,
  type NodeValues,
  type NotSeen,
  nodeKey,
  type ReadData,
  type SealedFile,
  type ValueNeed,
} from '../model/fleet.ts'
import type { Aliases, FleetConfig } from '../model/fleet-config.ts'
import type { AskedRepository } from '../model/source-access.ts'
import type { RenderMemory } from '../rendering/render-memory.ts'
import { overlayTree } from '../rendering/trees.ts'
import type { ReadContext } from '../sources/ask-read.ts'
import type { SourceIndex, Sources } from '../sources/sources.ts'
import type { Delegated, TenantRepositories } from '../tenancy/delegated.ts'
import type { Tenancy, TenantBudgets } from '../tenancy/tenancy.ts'

/** What opening a node needs to know about its cluster. */
export interface NodeContext {
  readonly cluster: string
  readonly lockdown: Lockdown
  readonly sources: Sources
  readonly aliases: Aliases
  readonly index: SourceIndex
  readonly tenancy: Tenancy
  /** Repositories that the platform is known to have given to tenants. */
  readonly repositories: TenantRepositories
  readonly delegated: Delegated
  /** What each node rendered from. */
  readonly artifacts: Map<string, Artifact>
  /** Nodes whose source brings more than its own files, so any change of it counts. */
  readonly whole: Set<string>
  readonly values: ValueIndex
  /** Nodes that are rendered although values are missing, by key, and which were. */
  readonly missed: Map<string, Set<string>>
  readonly budgets: TenantBudgets
  /** The same for what is rendered again with holes. */
  readonly holeBudgets: TenantBudgets
  /** The same for what failed nodes read. */
  readonly readBudgets: TenantBudgets
  /** Without, everything is rendered anew. */
  readonly memory: RenderMemory | undefined
  /** Decides what may be read; absent: everything. */
  readonly access: ReadContext | undefined
  /** What has to be known before it can be decided. */
  readonly asked: AskedRepository[]
}

/** What the fleet's file says about values. */
type ValueConfig = Pick<FleetConfig, 'substituteFrom' | 'forbidUndeclaredValues'>

/** What `substituteFrom` of a cluster can find: what was rendered so far, and what the fleet declares. */
export class ValueIndex {
  readonly #objects = new Map<string, KubeObject>()
  readonly #contested = new Set<string>()
  readonly #declared = new Map<string, VariableSource>()
  /** Of what controllers make, undefined where not even the keys are known. */
  readonly #made = new Map<string, Variables | undefined>()
  /** What git has and the cluster need not have: Flux does not correct it, or something else writes it, too. */
  readonly #loose = new Set<string>()
  /** What a Kustomization was given of git. */
  readonly #taken = new Set<string>()
  readonly #presumed = new Set<string>()
  readonly #rendered = new Set<string>()
  readonly #cluster: string
  readonly #read: ClusterValues | undefined

  /** Whether what neither the fleet renders nor its file declares has unknown values; else it is missing. */
  readonly allowsUndeclared: boolean

  /** `presumed`: objects of which it is assumed that they will be added, too. `read`: what was read on the cluster. */
  constructor(
    cluster: string,
    { substituteFrom: declarations, forbidUndeclaredValues }: ValueConfig,
    presumed: readonly KubeObject[] = [],
    read?: ClusterValues,
  ) {
    this.#cluster = cluster
    this.#read = read
    this.allowsUndeclared = !forbidUndeclaredValues
    // what is declared for one cluster wins over what is declared for all
    const general = declarations.filter(one => one.cluster === undefined)
    for (const one of [...general, ...declarations.filter(each => each.cluster === cluster)]) {
      this.#declared.set(valueId(one.kind, one.namespace, one.name), one.source)
    }
    for (const object of presumed) {
      const id = this.#keep(object)
      if (id !== undefined) this.#presumed.add(id)
    }
  }

  /**
   * The id of an object that gives values, once it is known; undefined for any other object. `isExact`: what git says of it
   * is what Flux applies.
   */
  add(object: KubeObject, isExact = true): string | undefined {
    const id = this.#keep(object)
    if (id !== undefined) this.#rendered.add(id)
    if (id !== undefined && !isExact) this.#loosen(id)
    return id
  }

  /** The same of what a controller makes: two that make the same are known only where both give the same keys. */
  addMade({ kind, namespace, name, variables }: MadeSource): string | undefined {
    const id = valueId(kind, namespace, name)
    const keys = (known: Variables | undefined) => known && [...known.keys()].sort().join('\n')
    const isOther = this.#made.has(id) && keys(this.#made.get(id)) !== keys(variables)
    if (isOther || this.#objects.has(id)) this.#loosen(id)
    else this.#made.set(id, variables)
    return this.isMade(id) ? id : undefined
  }

  /** What was taken from git before may not be what the cluster has. */
  #loosen(id: string): void {
    if (this.#taken.has(id) && !this.#loose.has(id)) this.#contested.add(id)
    this.#made.set(id, undefined)
    this.#loose.add(id)
  }

  #keep(object: KubeObject): string | undefined {
    const { apiVersion, kind, namespace, name } = idOf(object)
    if ((kind !== 'ConfigMap' && kind !== 'Secret') || groupOf(apiVersion) !== '') return undefined
    const id = valueId(kind, namespace, name)
    const known = this.#objects.get(id)
    if (this.#made.has(id) || fluxMarks(object, NOT_CORRECTED).length > 0) this.#loosen(id)
    if (!known) this.#objects.set(id, object)
    else if (valuesIn(known.root) !== valuesIn(object.root)) this.#contested.add(id)
    return id
  }

  has(id: string): boolean {
    return this.#objects.has(id) || this.#declared.has(id) || this.isMade(id)
  }

  /** Whether an operator makes it of what the platform renders: the keys are known, and no values. */
  isMade(id: string): boolean {
    return !this.#objects.has(id) && !this.#declared.has(id) && this.#made.get(id) !== undefined
  }

  isPresumed(id: string): boolean {
    return this.#presumed.has(id)
  }

  /** Whether only the assumption says that it is there. */
  isUnfounded(id: string): boolean {
    return this.#presumed.has(id) && !this.#rendered.has(id)
  }

  /** Whether more than one place says what the values are, and they may differ. */
  isContested(id: string): boolean {
    return this.#contested.has(id) || (this.#objects.has(id) && this.#declared.has(id) && !this.#loose.has(id))
  }

  /** Whether git does not say all that it holds on the cluster. */
  isOfCluster(id: string): boolean {
    const object = this.#objects.get(id)
    if (!object || this.#declared.has(id) || this.#loose.has(id)) return true
    return unlessRefused(false, () => [...variablesOf(object.root).values()].some(({ hidden }) => hidden === 'opaque'))
  }

  /** What was read on the cluster for a Kustomization. */
  readFor(kustomization: KubeObject): NodeValues | undefined {
    return this.#read?.nodes.get(nodeKey(this.#cluster, idOf(kustomization)))
  }

  /** The values; throws `flux-invalid` for an object that the API server refuses. */
  find(id: string): VariableSource | undefined {
    const object = this.#objects.get(id)
    const made = this.#made.get(id)
    const declared = this.#declared.get(id)
    if (object || made) this.#taken.add(id)
    if (object && this.#loose.has(id)) {
      const { root } = object
      return declared ?? { variables: new Map(), rest: unknownVariable(root.origin, [holderOf(root, '')]) }
    }
    if (object) return { variables: variablesOf(object.root) }
    return declared ?? (made && { variables: made })
  }

  /** All that is known about the values, as text: another text may mean another rendering. */
  describe(id: string): string {
    const object = this.#objects.get(id)
    const declared = this.#declared.get(id)
    const values = [...(declared?.variables ?? this.#made.get(id) ?? [])].map(([name, { value, hidden }]) => [
      name,
      value,
      hidden ?? '',
    ])
    const isOpen = declared?.rest !== undefined || this.#loose.has(id)
    return JSON.stringify([id, object ? described(object.root) : '', values, isOpen])
  }
}

/** An unknown value and a text that looks like its variable are the same only to a reader. */
const described = (root: Node): string => JSON.stringify([canonical(root), holdersIn(root)])

/** All of an object but its labels and annotations, which say nothing of its values. */
function valuesIn(root: MapNode): string {
  const fields = [...root.fields].filter(([name]) => name !== 'metadata')
  return described({ ...root, fields: new Map(fields) })
}

function holdersIn(node: Node): unknown[] {
  if (node.type === 'scalar') return node.opaque ? [node.opaque] : []
  const below = node.type === 'list' ? node.items : [...node.fields.values()].map(field => field.value)
  // with the place of each: the texts alone may be those of others
  return below.flatMap((one, index) => holdersIn(one).map(held => [index, held]))
}

/** `<Kind>/<namespace>/<name>`. */
export const valueId = (kind: SourceKind, namespace: string, name: string): string => `${kind}/${namespace}/${name}`

/** One entry of a Kustomization's `substituteFrom`. */
export interface Need {
  readonly id: string
  readonly kind: SourceKind
  readonly name: string
  readonly optional: boolean
  readonly origin: Origin
}

/** What a Kustomization substitutes from; invalid entries are left to the renderer. */
export const needsOf = oncePer((kustomization: KubeObject): readonly Need[] => {
  const list = at(kustomization.root, ['spec', 'postBuild', 'substituteFrom'])
  const { namespace } = idOf(kustomization)
  return itemsOf(list).flatMap(item => {
    const kind = stringAt(item, ['kind'])
    const name = stringAt(item, ['name'])
    if ((kind !== 'ConfigMap' && kind !== 'Secret') || !name) return []
    const optional = at(item, ['optional'])
    const isOptional = isTrue(optional)
    return [{ id: valueId(kind, namespace, name), kind, name, optional: isOptional, origin: item.origin }]
  })
})

/** What has to be known before a Kustomization can be rendered and is not: one that is not optional where there is one. */
export function missingNeed(kustomization: KubeObject, values: ValueIndex): Need | undefined {
  const missing = needsOf(kustomization).filter(need => !values.has(need.id))
  return missing.find(need => !need.optional) ?? missing[0]
}

/** What a Kustomization substitutes from and git does not say all of; undefined: nothing. */
export function clusterNeeds(kustomization: KubeObject, values: ValueIndex): readonly ValueNeed[] | undefined {
  const needs = new Map<string, ValueNeed>()
  for (const { id, kind, name, optional } of needsOf(kustomization)) {
    if (values.isContested(id) || !values.isOfCluster(id)) continue
    needs.set(id, { kind, name, optional: optional && needs.get(id)?.optional !== false })
  }
  return needs.size === 0 ? undefined : [...needs.values()]
}

function variablesRead(data: ReadData, origin: Origin): Map<string, Variable> {
  const variable = (value: string | null): Variable =>
    value === null ? { value: '', origin, hidden: 'not-text' } : plainVariable(value, origin)
  return new Map([...data].map(([key, value]) => [key, variable(value)]))
}

/**
 * Finds values for a Kustomization. What it finds throws `graph-conflict` where two places say what a value is. What nothing
 * renders or declares is what only the cluster has: unknown values, unless the fleet's file forbids them. For a tenant that
 * holds for what is optional, too; of the platform what is optional counts as absent, as long as every variable is set or
 * has a default. Who may write the ConfigMap decides later. What was read on the cluster is what Flux finds there.
 */
export function findValues(
  kustomization: KubeObject,
  values: ValueIndex,
  tenant: string | undefined,
): FindVariableSource {
  const { namespace } = idOf(kustomization)
  const read = values.readFor(kustomization)?.objects
  const needs = new Map([...needsOf(kustomization)].reverse().map(need => [need.id, need]))
  return (kind, name) => {
    const id = valueId(kind, namespace, name)
    const need = needs.get(id)
    if (values.isContested(id)) throw contested(need!)
    const data = need && read?.get(id)
    if (data !== undefined) return data === null ? undefined : { variables: variablesRead(data, need!.origin) }
    // a tenant may have the operator merge more into it
    const found = tenant !== undefined && values.isMade(id) ? undefined : values.find(id)
    if (found || !need || (tenant === undefined && !values.allowsUndeclared)) return found
    const holders = [{ kind, namespace, name, key: '' }]
    const unknown = { value: '', origin: need.origin, hidden: 'opaque', undeclared: true, holders } as const
    const counts = tenant === undefined && need.optional ? 'unset' : 'rest'
    return { variables: new Map(), [counts]: unknown }
  }
}

/** Why values that were taken, or left out as absent, are not those of the cluster after all; asked when all is known. */
export function valuesError(kustomization: KubeObject, missed: ReadonlySet<string>, values: ValueIndex) {
  for (const need of needsOf(kustomization)) {
    if (values.isContested(need.id)) return contested(need)
    // what is known of it late are its keys only, and no values were taken
    const isLate = missed.has(need.id) && values.has(need.id) && !values.isMade(need.id)
    if (!isLate && !values.isUnfounded(need.id)) continue
    const text = message`${codeWord('substituteFrom')}: only this Kustomization itself, or one that depends on it, renders ${part('object', need.id)}`
    return new BailiwickError('graph-conflict', text, {
      origin: need.origin,
      fix: 'Move it to another Kustomization, or declare it in .github/bailiwick.yaml.',
    })
  }
  return undefined
}

function contested({ id, origin }: Need): BailiwickError {
  return new BailiwickError(
    'graph-conflict',
    message`${part('object', id)}: rendered twice, or rendered and declared, with different values`,
    {
      origin,
      fix: 'Keep one of them.',
    },
  )
}

/** What the platform's nodes of a cluster substitute from and only the cluster has: one entry for each ConfigMap or Secret. */
export function undeclaredValues(cluster: string, nodes: readonly FleetNode[], values: ValueIndex): NotSeen[] {
  if (!values.allowsUndeclared) return []
  const isNeeded = new Map<string, boolean>()
  for (const { kustomization, tenant, source } of nodes) {
    if (tenant !== undefined || source.opaque !== undefined) continue
    for (const { id, optional } of needsOf(kustomization)) {
      if (!values.has(id)) isNeeded.set(id, isNeeded.get(id) === true || !optional)
    }
  }
  return [...isNeeded]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([id, needed]) => ({
      ...{ source: id, url: '', what: 'values' as const },
      reason: needed
        ? `only the cluster ${cluster} has it, so its values are unknown`
        : `it is optional, and neither rendered nor declared, so it is evaluated as absent on the cluster ${cluster}`,
    }))
}

/**
 * The encrypted files that Secrets of a Kustomization are generated from, and its encrypted patches, as kustomize-controller
 * would open them before the build (internal/decryptor, DecryptSources). One that it would open as a format not written
 * here, or as two, or that lies in another repository, is not among them. Undefined: there are none.
 */
export function sealedFiles(
  { objects, holes = [], error }: Pick<FleetNode, 'objects' | 'holes' | 'error'>,
  artifact: Artifact,
): readonly SealedFile[] | undefined {
  if (artifact.composed) return undefined
  const files = new Map<string, SealedFile | undefined>()
  const note = (path: string, format: SopsFormat | undefined, text: string, isKnown: boolean) => {
    const same = !files.has(path) || files.get(path)?.format === format
    files.set(path, isKnown && same && format !== undefined ? { path, format, text } : undefined)
  }
  for (const { key, value, path } of objects.flatMap(sealedValues)) {
    const text = textAt(artifact, path)
    if (text === undefined) continue
    // of an env file each key has its own line
    const isWhole = String(value.value).replaceAll('\n', '') === Buffer.from(text).toString('base64')
    const format = isWhole ? sopsFormatOf(key) : 'dotenv'
    note(path, format, text, isOpenedAs(format, text) && !(format === 'yaml' && hasComment(text)))
  }
  for (const { sealed: path } of [...holes.map(hole => hole.error), ...(error ? [error] : [])]) {
    const text = path === undefined ? undefined : textAt(artifact, path)
    if (path !== undefined && text !== undefined)
      note(path, sopsFormatOf(path), text, isOpenedAs(sopsFormatOf(path), text))
  }
  const known = [...files.values()].filter(file => file !== undefined)
  return known.length === 0 ? undefined : known
}

/** A file that is text; the encrypted ones are. */
function textAt({ tree }: Artifact, path: string): string | undefined {
  if (tree.entry(path)?.type !== 'file') return undefined
  const bytes = tree.read(path)
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8')
  return Buffer.from(text).equals(bytes) ? text : undefined
}

const isOpenedAs = (format: SopsFormat | undefined, text: string) => format !== undefined && hasSopsMark(format, text)

/** sops writes comments back, at places that are not known here; in a patch they say nothing. */
const hasComment = (text: string) => /(?:^|\s)#/m.test(text)

function sealedValues(object: KubeObject): { key: string; value: ScalarNode; path: string }[] {
  const data = idOf(object).kind === 'Secret' ? at(object.root, ['data']) : undefined
  if (data?.type !== 'map') return []
  return [...data.fields].flatMap(([key, { value }]) => {
    // what a generator read has no holder: it is in git
    if (value.type !== 'scalar' || value.opaque?.length !== 0) return []
    return [{ key, value, path: value.origin.file }]
  })
}

/** The artifact with encrypted files in clear, as Flux opens them in place before it builds. */
export function withPlain(artifact: Artifact, files: ReadonlyMap<string, Uint8Array> | undefined): Artifact {
  return files?.size ? { ...artifact, tree: overlayTree(artifact.tree, files) } : artifact
}
