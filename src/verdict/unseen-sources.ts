import { probably } from '../base/name-list.ts'
import { oncePer } from '../base/once-per.ts'
import { isFluxInstance } from '../fleet/bootstrap/flux-instance.ts'
import { kindOf } from '../fleet/facts/object-table.ts'
import { heldNodes } from '../fleet/facts/reconcilers.ts'
import { shown, shownId, shownObject } from '../fleet/facts/shown.ts'
import { isNextVersion } from '../fleet/facts/sources.ts'
import { sourceIdOf } from '../fleet/graph/cluster-root.ts'
import {
  type ChartSource,
  type Fleet,
  type FleetNode,
  type IncludedSource,
  nodesByKey,
  whyIncomplete,
} from '../fleet/model/fleet.ts'
import type { FleetConfig } from '../fleet/model/fleet-config.ts'
import { declarationKey, NOT_READABLE, type SourceDeclaration } from '../fleet/model/source-access.ts'
import { canonicalRef, refKey } from '../fleet/model/source-ref.ts'
import { artifactPath } from '../flux/artifact.ts'
import { ARTIFACT_GENERATOR, kindsThat } from '../kube/flux-kinds.ts'
import { at, originAt, stringAt } from '../kube/node.ts'
import { idOf, type KubeObject } from '../kube/object.ts'
import { fieldTexts } from '../kube/read-fields.ts'
import type { NodeFailure, RequiredApproval } from '../rules/model/finding.ts'
import { isUnread, sourceNewVersion } from '../rules/sources/source-new-version.ts'
import { failureOf } from './findings.ts'
import { placeOf } from './hidden-content.ts'
import { onePerGroup } from './source-approvals.ts'

/**
 * What the platform newly applies of content that is not visible: another source, revision or path, in another place, with
 * other rights or in another form. And what it newly follows by a revision that moves without a change that is evaluated.
 * A rule names what is only a later version of the same.
 */
export function unreadSources(head: Fleet, base: Fleet): RequiredApproval[] {
  const before = nodesByKey(base.nodes)
  const [specs, old] = [specsOf(head), specsOf(base)]
  const [isHeld, wasHeld] = [heldNodes(head.nodes), heldNodes(base.nodes)]
  const keysOf = (node: FleetNode, keyIn = keyOf) =>
    placeOf(node, wasHeld.has(node.key)).known.map(place => keyIn(node, old, place))
  const known = new Set(base.nodes.filter(isUnread).flatMap(node => keysOf(node)))
  const isNextOf = (was: FleetNode | undefined, node: FleetNode, place: string) =>
    was !== undefined &&
    isUnread(was) &&
    was.source.id === node.source.id &&
    isNextVersion(specOf(node, specs).tag, specOf(was, old).tag) &&
    isVersionNamed(head.config) &&
    keysOf(was, keyOfAnyVersion).includes(keyOfAnyVersion(node, specs, place))
  const unread = head.nodes.flatMap(node => {
    const was = before.get(node.key)
    // of a cluster that is asked for already
    if (node.parent === undefined && was && !(isSame(was, node) && isUnread(was) === isUnread(node))) return []
    const place = isUnread(node) ? placeOf(node, isHeld.has(node.key)).now : undefined
    const wakes = wasHeld.has(node.key) && !isHeld.has(node.key)
    const what = isUnread(node)
      ? (isReportedAsError(node, was) && !mayBeUnread(node, head)) ||
        place === undefined ||
        known.has(keyOf(node, specs, place)) ||
        isNextOf(was, node, place)
        ? undefined
        : `is not visible, so nothing of it is evaluated: ${node.source.opaque}`
      : movingIn(node).some(url => !was || wakes || !movingIn(was).includes(url))
        ? 'can be changed by everyone who can push to it, without an evaluation'
        : undefined
    return what === undefined ? [] : [{ node, what }]
  })
  return grouped(unread)
}

/** A rule that is off names nothing, and a setting asks as for charts. */
const isVersionNamed = ({ severities, unrenderedCharts }: FleetConfig) =>
  severities.get(sourceNewVersion.id) !== 'off' && unrenderedCharts !== 'approve'

/** The repositories that it follows by a tag, a range of tags or another ref than a branch, where that is visible. */
function movingIn({ tenant, source }: FleetNode): string[] {
  if (tenant !== undefined || source.opaque !== undefined) return []
  const moves = ({ ref }: Pick<IncludedSource, 'ref'>) => (ref.tag ?? ref.semver ?? ref.name) !== undefined
  return [source, ...(source.includes ?? [])].filter(moves).map(({ url }) => url)
}

/** What a change makes undeclared, or another address, is an evaluation error. */
function isReportedAsError({ source }: FleetNode, was: FleetNode | undefined): boolean {
  if (source.unmatched === undefined) return false
  const { why } = source.unmatched
  return !(was?.source.unmatched?.why === why && was.source.id === source.id && was.source.url === source.url)
}

interface UnreadSource {
  readonly node: FleetNode
  readonly what: string
}

/** Each source once, however many Kustomizations follow it. */
function grouped(unread: readonly UnreadSource[]): RequiredApproval[] {
  return onePerGroup(
    unread,
    ({ node, what }) => `${followedText(node)} ${what}`,
    ({ node, what }, others) => {
      const message = `${shownObject('Kustomization', node.namespace, node.name)}${others} would follow ${shown(followedText(node))}, which ${what}`
      const rule = isUnread(node) ? 'source-opaque' : 'source-mutable-ref'
      return { rule, path: node.kustomization.root.origin.file, message }
    },
  )
}

/** What is the same for two nodes that apply the same unseen content in the same way, whatever they are called. */
function keyOf(node: FleetNode, specs: Specs, place: string): string {
  return JSON.stringify([keyOfAnyVersion(node, specs, place), refKey(node.source.ref), specOf(node, specs).tag])
}

/** The same, whichever tag it follows. */
function keyOfAnyVersion(node: FleetNode, specs: Specs, place: string): string {
  const { source, path } = node
  const ref = JSON.stringify(canonicalRef(source.ref), (name, value) => (name === 'tag' ? '' : value))
  const included = (source.includes ?? []).map(({ url, ref }) => [url, refKey(ref)])
  // without an address, as that of an ExternalArtifact, its own name identifies it
  return JSON.stringify([source.url || source.id, ref, included, specOf(node, specs).rest, path, place])
}

const specOf = ({ hub, cluster, source }: FleetNode, specs: Specs) =>
  specs.get(`${hub ?? cluster} ${source.id}`) ?? NO_SPEC

/** What source objects say about content, by `<cluster> <Kind>/<namespace>/<name>`. */
type Specs = ReadonlyMap<string, Spec>

/** The tag that a source follows, and all else that decides about its content. */
interface Spec {
  readonly tag: string
  readonly rest: string
}

const NO_SPEC: Spec = { tag: '', rest: '' }

function specsOf({ nodes }: Fleet): Specs {
  const wanted = new Set(nodes.filter(isUnread).map(({ hub, cluster, source }) => `${hub ?? cluster} ${source.id}`))
  if (wanted.size === 0) return new Map()
  return new Map(
    nodes.flatMap(node =>
      sourcesOf(node).flatMap(([id, spec]) =>
        wanted.has(`${node.cluster} ${id}`) ? [[`${node.cluster} ${id}`, spec]] : [],
      ),
    ) as [string, Spec][],
  )
}

/** Fields of a source that decide when it is fetched, and not what. */
const TIMING = new Set(['interval', 'timeout'])
const SOURCES: ReadonlySet<string> = new Set(kindsThat(({ source, makesSources }) => source ?? makesSources))

const sourcesOf = oncePer((node: FleetNode): readonly (readonly [id: string, spec: Spec])[] =>
  [...node.objects, ...(node.retained ?? [])].flatMap(object => {
    if (!SOURCES.has(kindOf(object))) return []
    const { kind, namespace, name } = idOf(object)
    const spec = readSpec(object)
    return [[`${kind}/${namespace}/${name}`, spec] as const, ...madeBy(object).map(id => [id, spec] as const)]
  }),
)

/** The artifacts that a generator makes, which are not rendered. */
function madeBy(object: KubeObject): string[] {
  const list = at(object.root, ['spec', 'artifacts'])
  if (kindOf(object) !== ARTIFACT_GENERATOR || list?.type !== 'list') return []
  const { namespace } = idOf(object)
  return list.items.map(item => `ExternalArtifact/${namespace}/${stringAt(item, ['name']) ?? ''}`)
}

function readSpec({ root }: KubeObject): Spec {
  const [spec, ref] = [at(root, ['spec']), at(root, ['spec', 'ref'])]
  const tag = stringAt(root, ['spec', 'ref', 'tag'])
  const others = fieldTexts(spec, name => !TIMING.has(name) && (name !== 'ref' || ref?.type !== 'map'))
  const rest = JSON.stringify([others, fieldTexts(ref, name => name !== 'tag' || tag === undefined)])
  return { tag: tag ?? '', rest }
}

/** What a node follows, as `address#revision`; the source object where that has no address. */
export function followedText({ source: { url, id, ref } }: Pick<FleetNode, 'source'>): string {
  const revision = ref.commit ?? ref.name ?? ref.semver ?? ref.tag ?? ref.branch
  return `${url || id}${revision === undefined ? '' : `#${revision}`}`
}

/** Whether two nodes follow the same revision of the same repository. */
export function isSame(a: Pick<FleetNode, 'source'>, b: Pick<FleetNode, 'source'>): boolean {
  return a.source.url === b.source.url && refKey(a.source.ref) === refKey(b.source.ref)
}

/**
 * Sources of which a change leaves nothing to see: Kustomizations and clusters that from now on follow what no manifest
 * declares, or another address. An existing case is listed as not visible, because real fleets apply sources by hand.
 */
export function unmatchedSources(head: Fleet, base: Fleet | undefined): NodeFailure[] {
  const hidden = withoutCluster(head)
  if (!base || hidden.length > 0) return hidden
  const before = nodesByKey(base.nodes)
  const undeclared = new Set(base.nodes.filter(isUndeclared).map(({ source }) => source.id))
  const withoutFolders = foldersThatGo(head, base)
  return head.nodes.flatMap(node => {
    const { id, url, unmatched, presumed } = node.source
    const start = before.get(node.key)
    // bootstrap may have made the source of a root by hand; one that was rendered is not
    const isRoot = node.parent === undefined && node.digest !== ''
    if (isRoot && start && declares(base, start) && !declares(head, node)) return [withoutObject(node, head)]
    // a source applied by hand existed before, on some cluster; a name that the change brings may be a mistake
    if (presumed) return undeclared.has(id) ? [] : [withoutObject(node, head)]
    const was = start?.source
    const stood = was?.unmatched?.why === unmatched?.why && was?.id === id && was.url === url
    if (unmatched === undefined || stood) return []
    if (unmatched.why !== 'no-object') return [elsewhere(node)]
    const without = withoutFolders.get(id)
    if (without) return without.includes(node) ? [withoutFolder(node)] : []
    return mayBeUnread(node, head) ? [] : [withoutObject(node, head)]
  })
}

/** Whether what cannot be read of the platform may declare the source: following that needs an approval instead. */
const mayBeUnread = ({ tenant, cluster, source }: FleetNode, head: Fleet) =>
  tenant === undefined && source.unmatched?.why === 'no-object' && unreadClusters(head).has(cluster)

/** Clusters on which a part of the platform could not be read. */
const unreadClusters = oncePer(({ nodes }: Fleet): ReadonlySet<string> => {
  const unread = nodes.filter(node => node.tenant === undefined && whyIncomplete(node) !== undefined)
  return new Set(unread.map(({ cluster }) => cluster))
})

const isUndeclared = ({ source }: FleetNode) => source.presumed || source.unmatched?.why === 'no-object'
/** A FluxInstance makes the source of the cluster that it is found by, which nothing else renders. */
const declares = ({ nodes }: Fleet, { cluster, source, kustomization, objects }: FleetNode) =>
  nodes.some(one => one.cluster === cluster && one.objects.some(object => sourceIdOf(object) === source.id)) ||
  objects.some(one => isFluxInstance(one) && one.root.origin.file === kustomization.root.origin.file)

/**
 * By source, the Kustomizations without which this repository would still stand for a source that nothing declares: it
 * does as long as it has every folder that is applied.
 */
function foldersThatGo({ nodes, repositories }: Fleet, base: Fleet): ReadonlyMap<string, readonly FleetNode[]> {
  const tree = repositories[0]?.tree
  const presumed = new Set(base.nodes.filter(({ source }) => source.presumed).map(({ source }) => source.id))
  const without = nodes.filter(
    ({ source, path }) =>
      source.unmatched?.why === 'no-object' &&
      presumed.has(source.id) &&
      tree?.entry(artifactPath(path))?.type !== 'directory',
  )
  return Map.groupBy(without, ({ source }) => source.id)
}

/** A repository that no cluster follows by its address: nothing is evaluated, which is not a pass, however old it is. */
function withoutCluster({ nodes }: Fleet): NodeFailure[] {
  const roots = nodes.filter(node => node.parent === undefined)
  if (roots.length === 0 || roots.some(node => node.source.unmatched?.why !== 'other-address')) return []
  return roots.map(elsewhere)
}

function withoutObject(node: FleetNode, { nodes }: Fleet): NodeFailure {
  const { id } = node.source
  const name = shownObject('Kustomization', node.namespace, node.name)
  const message = `${name}: source ${shownId(id)} not found, because no object of the fleet declares it. Flux would wait for it`
  const beside = id.slice(0, id.lastIndexOf('/') + 1)
  const near = nodes.flatMap(({ cluster, objects }) => (cluster === node.cluster ? objects.map(sourceIdOf) : []))
  const meant = probably(
    id,
    near.filter(one => one.startsWith(beside)),
  )
  const fix =
    meant === undefined
      ? 'Declare the source in the fleet, or correct its kind, name and namespace. If it is applied by hand, list it under sources in .github/bailiwick.yaml.'
      : `Did you mean ${shownId(meant)}?`
  const origin = originAt(node.kustomization.root, ['spec', 'sourceRef', 'name'])
  return failureOf(node, { code: 'flux-invalid', message, fix }, origin)
}

function withoutFolder(node: FleetNode): NodeFailure {
  const name = shownObject('Kustomization', node.namespace, node.name)
  const message = `${name}: spec.path: this repository has no directory ${shown(node.path)}. It stands for source ${shownId(node.source.id)}, which nothing declares, only while it has every directory that is applied`
  const fix = 'Correct spec.path, or list the source under sources in .github/bailiwick.yaml.'
  return failureOf(node, { code: 'path-not-found', message, fix }, originAt(node.kustomization.root, ['spec', 'path']))
}

function elsewhere(node: FleetNode): NodeFailure {
  const { url, opaque = '' } = node.source
  const message = `cluster ${shown(node.cluster)}: it would follow ${shown(url)}, so the cluster cannot be evaluated: ${opaque}`
  const fix =
    'Correct spec.url of the source of the cluster, or list the address under aliases of .github/bailiwick.yaml.'
  return failureOf(node, { code: 'source-unreadable', message, fix }, node.source.unmatched!.origin)
}

const CODE = 'source-unreadable'
const FIX =
  'Remove it, or ask a fleet admin to list the repository under the repositories of the tenant in .github/bailiwick.yaml.'

/**
 * What a tenant's change hides from every rule: a source under the fleet's owner that may not be read, or cannot, and that
 * could be before or was not declared. The words are the same whether or not there is such a repository.
 */
export function unreadableSources(head: Fleet, base: Fleet): NodeFailure[] {
  if (!head.access || !base.access) return []
  const owner = ownerOf(head.repositories[0]?.url ?? '')
  const nodes = nodesByKey(head.nodes)
  const before = nodesByKey(base.nodes)
  const refused = [...head.access.declarations].filter(([key, one]) => {
    const known = base.access!.declarations.get(key)
    return one.refused && ownerOf(one.url) === owner && !(known && isSameRefusal(known, one))
  })
  // those that tenants may add are approved, or not (source-approvals.ts)
  const isError = head.config.tenantSources === 'declared'
  const declared = new Set(refused.map(([key]) => key))
  const failures = (isError ? refused : []).flatMap(([, one]) => {
    const node = nodes.get(one.node)
    return node ? [failureOf(node, { code: CODE, message: messageOf(one), fix: FIX }, one.origin)] : []
  })
  for (const node of head.nodes) {
    const key = declarationKey(node.cluster, node.source.id)
    if (ownerOf(node.source.url) !== owner || declared.has(key)) continue
    if (isHiding(node, head, nodes) && !isKnown(node, before.get(node.key))) failures.push(followed(node))
  }
  const reported = new Set(refused.map(([, one]) => `${one.tenant} ${one.url}`))
  for (const node of head.nodes) {
    const was = new Set((before.get(node.key)?.charts ?? []).filter(isRefused).map(one => one.url))
    for (const chart of (node.charts ?? []).filter(isRefused)) {
      const isOther = node.tenant === undefined || ownerOf(chart.url) !== owner
      if (!isOther && !was.has(chart.url) && !reported.has(`${node.tenant} ${chart.url}`))
        failures.push(deployed(node, chart))
    }
  }
  return failures
}

const isRefused = ({ opaque }: ChartSource): boolean => opaque === NOT_READABLE

function deployed(node: FleetNode, { url }: ChartSource): NodeFailure {
  const message = `${shownObject('Kustomization', node.namespace, node.name)}: a HelmRelease of it takes its chart from ${shown(url)}, which Bailiwick may not read for this tenant, so the chart could not be evaluated`
  return failureOf(node, { code: CODE, message, fix: FIX }, originAt(node.kustomization.root, ['metadata', 'name']))
}

/** Whether a tenant wrote what leads to a repository that is not read. */
function isHiding(node: FleetNode, head: Fleet, nodes: ReadonlyMap<string, FleetNode>): boolean {
  const { source, tenant, parent, cluster } = node
  if (tenant === undefined || source.opaque === undefined || !source.id.startsWith('GitRepository/')) return false
  if (head.access?.declarations.get(declarationKey(cluster, source.id))?.tenant !== undefined) {
    return head.config.tenantSources === 'declared'
  }
  const byTenant = parent !== undefined && nodes.get(parent)?.tenant !== undefined
  return byTenant && source.opaque.endsWith(NOT_READABLE)
}

function isKnown({ source }: FleetNode, before: FleetNode | undefined): boolean {
  return before?.source.opaque !== undefined && before.source.url === source.url && before.source.id === source.id
}

const isSameRefusal = (known: SourceDeclaration, one: SourceDeclaration): boolean =>
  known.refused && known.url === one.url && known.tenant === one.tenant

function messageOf({ id, url }: SourceDeclaration): string {
  return `${shownId(id)}: Bailiwick may not read ${shown(url)} for this tenant, so its content could not be evaluated. Allowed are sources that the fleet lists, public ones, and those that the author and everyone who pushed to the head can read`
}

function followed(node: FleetNode): NodeFailure {
  const { source, kustomization } = node
  const reason = source.opaque?.endsWith(NOT_READABLE) ? 'Bailiwick may not read it for this tenant' : source.opaque
  const message = `${shownObject('Kustomization', node.namespace, node.name)}: it follows ${shown(source.url)}, which could not be read (${reason}), so what it deploys could not be evaluated`
  return failureOf(node, { code: CODE, message, fix: FIX }, originAt(kustomization.root, ['spec', 'sourceRef', 'name']))
}

/** Server and account of an address, in lower case: GitHub has one account by any case. */
const ownerOf = (url: string): string => url.split('/').slice(0, 4).join('/').toLowerCase()
