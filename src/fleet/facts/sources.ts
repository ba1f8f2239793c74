import { placesOf } from '../../kube/capabilities/capability.ts'
import { BUCKET, FLUX_KINDS, GIT_REPOSITORY, valuesOf } from '../../kube/flux-kinds.ts'
import { at, type Path, stringAt } from '../../kube/node.ts'
import { idOf, type KubeObject, type ObjectId } from '../../kube/object.ts'
import { readAddress, type SourceAddress } from '../../kube/source-address.ts'
import type { FleetNode, NodeSource } from '../model/fleet.ts'
import { type Aliases, addressIn } from '../model/fleet-config.ts'
import { canonicalRef, refKey, type SourceRef } from '../model/source-ref.ts'
import type { FleetAnswers } from './object-index.ts'
import { kindOf, type Rendered } from './object-table.ts'

/** Where a kind of source says what it follows. */
const FIELDS = valuesOf(row => row.address)

/** The kinds that name an address, as `<group>/<Kind>`. */
export const sourceKinds: readonly string[] = [...FIELDS.keys()]

/** The scp form behind ssh://, which Go cannot parse. */
export function noPort(written: string): string | undefined {
  // what stands before an @ is a password, not a port, and must not be shown
  const form = /^[a-z+]{1,10}:\/\/(?:[^/@]{0,300}@)?[^/:@[]{1,300}:([^/?#@\d*$][^/?#@]{0,300})(?=[/?#]|$)/i
  const [, port] = form.exec(written) ?? []
  return port && `has a port that is not a number (Flux: \`invalid port ${JSON.stringify(`:${port}`)} after host\`)`
}

/** What a source follows, as it is written. */
interface WrittenAddress {
  readonly path: Path
  /** '' where it is not text. */
  readonly written: string
  /** A text says why it is not an address. */
  readonly address: SourceAddress | string
}

/**
 * The address of a source. Undefined where it has none, or where it is not known yet: a value that only the cluster
 * has, a variable that is left; other rules report these.
 */
export function addressOf(kind: string, object: KubeObject): WrittenAddress | undefined {
  const field = FIELDS.get(kind)
  const node = field && at(object.root, field.path)
  if (!field || !node || (node.type === 'scalar' && (node.value === null || node.opaque))) return undefined
  const { path } = field
  const written = stringAt(object.root, path)
  if (written === undefined) return { path, written: '', address: 'is not text' }
  if (written.includes('${')) return undefined
  const address = noPort(written) ?? readAddress(written, field.form)
  const bucket = kind === BUCKET && typeof address !== 'string' && stringAt(object.root, ['spec', 'bucketName'])
  if (!bucket) return { path, written, address }
  const within = readAddress(`${address.text.replace(/\/$/, '')}/${bucket}`, 'url')
  return { path, written, address: typeof within === 'string' ? address : within }
}

/** What a GitRepository follows: the repository in one spelling, and the one field of `spec.ref` that counts for Flux. */
interface Followed {
  readonly url: string
  readonly ref: SourceRef
}

/** Reads what a GitRepository follows; fields that are no text count as absent. */
export function followedBy(object: KubeObject, aliases: Aliases): Followed {
  return {
    url: addressIn(aliases, stringAt(object.root, ['spec', 'url']) ?? ''),
    ref: readRef(object, ['spec', 'ref']),
  }
}

/** A ref of Flux, in one form. */
export function readRef(object: KubeObject, path: Path): SourceRef {
  const fields = ['branch', 'tag', 'semver', 'name', 'commit'].flatMap(field => {
    const value = stringAt(object.root, [...path, field])
    return value ? [[field, value]] : []
  })
  return canonicalRef(Object.fromEntries(fields))
}

/** Where a ref that counts is written: the field, or `spec.ref` for a branch that is not named. */
export function refPath(object: KubeObject): Path {
  const fields = ['commit', 'name', 'semver', 'tag', 'branch']
  const field = fields.find(one => stringAt(object.root, ['spec', 'ref', one]))
  return field === undefined ? ['spec', 'ref'] : ['spec', 'ref', field]
}

const VERSION = /^v?(\d{1,9})\.(\d{1,9})\.(\d{1,9})$/

/** Whether a tag is only a later version of the other one: three numbers each, without what a prerelease is called. */
export function isNextVersion(tag: string, was: string): boolean {
  const [now, before] = [VERSION.exec(tag), VERSION.exec(was)]
  if (!now || !before) return false
  const at = [1, 2, 3].find(index => Number(now[index]) !== Number(before[index]))
  return at !== undefined && Number(now[at]) > Number(before[at])
}

/** For messages. */
export function wordsOf(ref: SourceRef): string {
  const [kind, value] = Object.entries(ref)[0] ?? ['branch', 'master']
  return `${kind} ${value}`
}

/** The fields by which an object takes something from a source, by its kind. */
export const TAKING_FIELDS: ReadonlyMap<string, readonly string[]> = new Map(
  FLUX_KINDS.flatMap(({ group, kind, references = [] }) => {
    const taking = references.flatMap(({ takes, path }) => (takes ? [path.join('.')] : []))
    return taking.length === 0 ? [] : [[`${group}/${kind}`, taking] as const]
  }),
)

/** The sources that an object takes something from, as sourceText names them; what a GitRepository includes too. */
export function takenBy(object: KubeObject): string[] {
  const kind = kindOf(object)
  const { namespace } = idOf(object)
  const taken = (TAKING_FIELDS.get(kind) ?? [])
    .flatMap(field => placesOf(object.root, field))
    .flatMap(path => named(object, path))
  if (kind !== GIT_REPOSITORY) return taken
  return [...taken, ...includedBy(object).map(name => sourceText({ kind: 'GitRepository', namespace, name }))]
}

/** The names of the sources that a GitRepository includes. */
export function includedBy({ root }: KubeObject): string[] {
  const list = at(root, ['spec', 'include'])
  return list?.type === 'list' ? list.items.flatMap(item => stringAt(item, ['repository', 'name']) ?? []) : []
}

/** A source as takenBy names it. */
export const sourceText = ({ kind, namespace, name }: Pick<ObjectId, 'kind' | 'namespace' | 'name'>): string =>
  `${kind} ${namespace}/${name}`

function named(object: KubeObject, path: Path): string[] {
  const reference = at(object.root, path)
  const [kind, name] = [stringAt(reference, ['kind']), stringAt(reference, ['name'])]
  if (kind === undefined || name === undefined) return []
  return [sourceText({ kind, namespace: stringAt(reference, ['namespace']) || idOf(object).namespace, name })]
}

/** Who follows what of which repository. */
export interface FollowedSources {
  /** By `<url> <refKey>`; `platform`: a source that the platform declares, maybe besides others. */
  readonly byRef: ReadonlyMap<string, 'platform' | 'tenant'>
  /** The tenants that the platform declares sources of a repository for; '' is the platform. */
  readonly known: ReadonlyMap<string, ReadonlySet<string>>
}

/** The tenant of a namespace. */
type OwnerOf = (cluster: string, namespace: string) => string | undefined

/** The same for all that an index knows. */
export function followedIn(index: FleetAnswers, nodes: readonly FleetNode[]): FollowedSources {
  const sources = index.clusters().flatMap(name => index.renderedAnywhere(name, GIT_REPOSITORY))
  const ownerOf: OwnerOf = (cluster, namespace) => index.ownerOf(cluster, namespace)
  return followedSources(sources, nodes, ownerOf, index.aliases())
}

/** What the GitRepositories of a fleet follow, and the roots of its clusters, which bootstrap made. */
function followedSources(
  sources: Iterable<Rendered>,
  nodes: readonly FleetNode[],
  ownerOf: OwnerOf,
  aliases: Aliases,
): FollowedSources {
  const byRef = new Map<string, 'platform' | 'tenant'>()
  const known = new Map<string, Set<string>>()
  const know = (url: string, whose: string) => known.set(url, (known.get(url) ?? new Set()).add(whose))
  for (const { source, parent } of nodes) {
    if (parent !== undefined || source.url === '') continue
    byRef.set(`${source.url} ${refKey(source.ref)}`, 'platform')
    know(source.url, '')
  }
  for (const { object, node } of sources) {
    const { url, ref } = followedBy(object, aliases)
    const key = `${url} ${refKey(ref)}`
    if (node.tenant !== undefined) byRef.set(key, byRef.get(key) ?? 'tenant')
    else {
      byRef.set(key, 'platform')
      know(url, ownerOf(node.cluster, idOf(object).namespace) ?? '')
    }
  }
  return { byRef, known }
}

/** Tenants by the repository and branch that the platform lets only them deploy from, without the fleet's own. */
export function repositoryAuthors(all: readonly FleetNode[]): Map<string, string> {
  const found = new Map<string, Set<string>>()
  const nodes = new Map(all.map(node => [node.key, node]))
  const roots = new Set(all.filter(node => node.parent === undefined).map(node => sourceKey(node.source)))
  for (const node of all) {
    const parent = nodes.get(node.parent ?? '')
    const isGiven = node.tenant !== undefined && parent !== undefined && parent.tenant === undefined
    if (!isGiven || node.source.url === '' || !node.source.id.startsWith('GitRepository/')) continue
    const key = sourceKey(node.source)
    if (!roots.has(key)) found.set(key, (found.get(key) ?? new Set()).add(node.tenant))
  }
  return new Map([...found].flatMap(([key, [tenant, other]]) => (other === undefined && tenant ? [[key, tenant]] : [])))
}

/** What a source follows, as text. */
export const sourceKey = ({ url, ref }: Pick<NodeSource, 'url' | 'ref'>): string => `${url} ${refKey(ref)}`
