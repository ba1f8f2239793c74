import { BailiwickError, unlessRefused } from '../../base/errors.ts'
import { type Artifact, packTree } from '../../flux/artifact.ts'
import { admits, readSourceAcl } from '../../flux/references.ts'
import { type Copied, copiedTree } from '../../flux/source-trees.ts'
import type { Tree } from '../../git/tree.ts'
import { withEmbedded } from '../../kube/capabilities/embedded-objects.ts'
import { apiVersionOf, GIT_REPOSITORY } from '../../kube/flux-kinds.ts'
import { mapNode, textNode } from '../../kube/node.ts'
import { groupOf, idOf, type KubeObject } from '../../kube/object.ts'
import { ASKED, type ChartSource, type FleetNode, type IncludedSource, WANTED } from '../model/fleet.ts'
import { refKey } from '../model/source-ref.ts'
import { addressOfSource, askRead, mayRead, type Reader } from '../sources/ask-read.ts'
import { type ClusterObjects, chartContent, DEPLOYERS, type NamedObject } from '../sources/charts.ts'
import { type GeneratedCopy, generatedCopies } from '../sources/compose-source.ts'
import { askedBy, type ReadDecision, type Resolved } from '../sources/sources.ts'
import type { NodeContext } from './node-values.ts'
import type { Draft, Walk } from './walk.ts'

/**
 * The repositories at a commit that the build of a platform's node names. They are read like the source of a GitRepository
 * that the platform declares in the change: by what the base declares, because they are public, or because all who
 * brought the change may read them.
 */
export class NodeRemotes {
  private readonly context: NodeContext
  private readonly kustomization: KubeObject
  private readonly reader: Reader
  private readonly found = new Map<string, { readonly source: ChartSource; readonly tree?: Tree }>()

  constructor(context: NodeContext, kustomization: KubeObject, reader: Reader) {
    this.context = context
    this.kustomization = kustomization
    this.reader = reader
  }

  /** The content of one; undefined where it is not at hand, or may not be read. */
  find(url: string, commit: string): Tree | undefined {
    const id = `Commit/${url}@${commit}`
    const known = this.found.get(id)
    if (known) return known.tree
    const { access, sources, asked } = this.context
    const resolved = sources.at(url, { commit }, mayRead(access, this.reader).ask(this.declaration(url, commit), url))
    const source = { id, url, ref: { commit }, commit }
    if (resolved.type === 'content') {
      this.found.set(id, { source, tree: resolved.artifact.tree })
      return resolved.artifact.tree
    }
    if (resolved.type === 'wanted' && resolved.asks) asked.push(askedBy(url, resolved.asks))
    const opaque = resolved.type === 'opaque' ? resolved.reason : resolved.asks ? ASKED : WANTED
    this.found.set(id, { source: { ...source, commit: '', opaque } })
    return undefined
  }

  /** Those whose content is in what was built. */
  get read(): readonly IncludedSource[] {
    return [...this.found.values()].filter(({ tree }) => tree !== undefined).map(({ source }) => source)
  }

  /** Those that are not at hand. */
  get absent(): readonly ChartSource[] {
    return [...this.found.values()].filter(({ tree }) => tree === undefined).map(({ source }) => source)
  }

  /** What a GitRepository that follows the commit would be, written where the Kustomization is. */
  private declaration(url: string, commit: string): KubeObject {
    const { origin } = this.kustomization.root
    const text = (value: string) => textNode(value, origin)
    const { namespace } = idOf(this.kustomization)
    const root = mapNode(
      [
        ['apiVersion', text(apiVersionOf(GIT_REPOSITORY))],
        ['kind', text('GitRepository')],
        [
          'metadata',
          mapNode(
            [
              ['name', text(`${url}@${commit}`)],
              ['namespace', text(namespace)],
            ],
            origin,
          ),
        ],
        ['spec', mapNode([['url', text(url)]], origin)],
      ],
      origin,
    )
    return { root, trail: [] }
  }
}

type Content = Resolved & { readonly type: 'content' }
type Waiting = { readonly unknownSource: string }

/** Trees that generators made, each once for the same content. */
const made = new WeakMap<KubeObject, Map<string, Artifact>>()

/** The content of an ExternalArtifact that a generator of its namespace only copies together, or why it is not visible. */
export function generatedSource(
  { index, budgets }: NodeContext,
  { namespace, name }: { readonly namespace: string; readonly name: string },
  tenant: string | undefined,
  resolve: (id: string) => Resolved | Waiting,
): Resolved | Waiting {
  const makers = index.generators(namespace).filter(one => generatedCopies(one, name) !== undefined)
  const [generator] = makers
  const copies = generator && generatedCopies(generator, name)
  if (!copies && !index.complete) return { unknownSource: `ExternalArtifact/${namespace}/${name}` }
  if (!copies || makers.length > 1) return opaque('the content of an ExternalArtifact is not in git')
  if (typeof copies === 'string') return opaque(copies)
  const sources = new Map<string, Content>()
  for (const { source } of copies) {
    const found = resolve(source)
    if ('unknownSource' in found || found.type === 'wanted') return found
    const why = found.type === 'opaque' ? found.reason : found.refused?.message
    if (found.type === 'opaque' || why !== undefined)
      return { ...opaque(`it is generated from ${source}: ${why}`), url: found.url, ref: found.ref }
    sources.set(source, found)
  }
  const { pack } = budgets.of(tenant)
  const placed = copies.map(copy => {
    const { tree, ignore, repository } = sources.get(copy.source)!.artifact
    return placedCopy(copy, { tree: packTree(tree, ignore, pack), repository })
  })
  const [[id, first], ...others] = [...sources] as [[string, Content], ...[string, Content][]]
  if (!placed.every(one => one !== undefined)) return opaque(`what its ArtifactGenerator copies of ${id} is not there`)
  const known = made.get(generator!) ?? new Map<string, Artifact>()
  made.set(generator!, known)
  const key = JSON.stringify([name, ...placed.map(({ tree, from, to }) => [tree.id, from, to])])
  const tree = known.get(key)?.tree ?? copiedTree(placed)
  if (!tree || hasIgnoreFile(tree)) return opaque('what its ArtifactGenerator copies together is not supported')
  const artifact = known.get(key) ?? { repository: first.artifact.repository, tree, composed: true as const }
  known.set(key, artifact)
  const includes = others.flatMap(([other, { url, ref, commit }]) => [{ id: other, url, ref, commit }])
  return { ...first, artifact, copies: placed, ...(includes.length > 0 ? { includes } : {}) }
}

const opaque = (reason: string): Resolved & { readonly type: 'opaque' } => ({
  type: 'opaque',
  url: '',
  ref: {},
  reason,
})

function placedCopy(
  { from, isContent, to, isInto }: GeneratedCopy,
  { tree, repository }: Pick<Copied, 'tree' | 'repository'>,
): Copied | undefined {
  const entry = tree.entry(from)
  if (!entry || (isContent && entry.type !== 'directory')) return undefined
  // a directory keeps its name in the target; a file does so only if the target is a directory
  const isNamed = !isContent && (entry.type === 'directory' || isInto)
  return { tree, repository, from, to: isNamed ? [to, entry.name].filter(Boolean).join('/') : to }
}

/** Flux does not read such a file of a generated artifact, and our packing would. */
function hasIgnoreFile(tree: Artifact['tree'], directory = ''): boolean {
  return tree
    .list(directory)
    .some(({ name, type, path }) => name === '.sourceignore' || (type === 'directory' && hasIgnoreFile(tree, path)))
}

/**
 * Another tenant's content is never rendered into a tenant's node unless its owner lets the namespace in: findings
 * would show it. Under --no-cross-namespace-refs Flux refuses before it reads the source, so there is nothing to
 * render either.
 */
export function whyNotRead(
  context: NodeContext,
  draft: Pick<Draft, 'namespace'>,
  tenant: string | undefined,
  id: string,
): string | undefined {
  const namespace = id.split('/')[1] ?? ''
  if (tenant === undefined || namespace === draft.namespace) return undefined
  const owner = context.tenancy.owners.get(namespace)
  if (owner !== undefined && owner !== tenant && !mayBeOpen(context, id, draft.namespace)) {
    return "it belongs to another tenant's namespace"
  }
  return context.lockdown.noCrossNamespaceRefs ? 'Flux rejects sources of other namespaces on this cluster' : undefined
}

/** Whether a source lets a namespace in, or is not known yet. */
function mayBeOpen({ index, tenancy }: NodeContext, id: string, namespace: string): boolean {
  const source = index.find(id)
  if (source === undefined || source === 'bootstrap') return !index.complete && source === undefined
  const acl = readSourceAcl(source)
  return acl !== undefined && acl !== 'unreadable' && admits(acl, tenancy.labelsOf(namespace))
}

/** Sources of charts that one tenant's releases may name on a cluster. */
const MAX_SOURCES = 200

/**
 * The sources in git of the charts that the releases of a node deploy for a tenant, each once. `known`: those of the
 * tenant's nodes so far. Throws `render-limits` where a tenant names too many.
 */
function chartSources(
  context: NodeContext,
  node: Pick<FleetNode, 'objects' | 'tenant'>,
  known: Set<string>,
): ChartSource[] {
  const found = new Map<string, ChartSource>()
  const named = new Map<string, KubeObject>()
  const objects = clusterObjects(context, named)
  for (const release of releasesOf(node)) {
    const { apiVersion, kind, namespace } = idOf(release)
    if (!DEPLOYERS.includes(`${groupOf(apiVersion)}/${kind}`)) continue
    if (node.tenant === undefined && !context.tenancy.owners.has(namespace)) continue
    for (const { url, ref } of contentOf(release, objects)?.sources ?? []) {
      const key = `${url} ${refKey(ref)}`
      if (found.has(key)) continue
      if (node.tenant !== undefined && known.add(key).size > MAX_SOURCES) {
        const details = { origin: release.root.origin, fix: 'Use charts from fewer repositories.' }
        throw new BailiwickError('render-limits', `charts: more than ${MAX_SOURCES} git sources`, details)
      }
      const read = decide(context, node, release, [...named.values()], url)
      if (read.state === 'ask') context.asked.push(askedBy(url, read))
      const [id] = [...named].find(([, one]) => addressOfSource(context, one) === url) ?? []
      const source = { id: id ?? `GitRepository/${namespace}`, url, ref }
      found.set(key, { ...source, ...seen(context.sources.at(url, ref, read)) })
    }
  }
  return [...found.values()]
}

/** What a node renders, and what controllers make of it for a tenant. */
function* releasesOf({ objects, tenant }: Pick<FleetNode, 'objects' | 'tenant'>): Iterable<KubeObject> {
  for (const object of objects) {
    if (tenant === undefined) yield object
    else yield* withEmbedded(object)
  }
}

/**
 * Whether the repository of a chart may be read for the tenant of its release. `named`: the sources that its releases name,
 * of which any that leads there may allow it; none: the source that bootstrap makes.
 */
function decide(
  { access, tenancy }: NodeContext,
  { tenant }: Pick<FleetNode, 'tenant'>,
  release: KubeObject,
  named: readonly KubeObject[],
  url: string,
): ReadDecision {
  if (!access) return { state: 'read', lent: false }
  const reader = {
    tenant: tenant ?? tenancy.owners.get(idOf(release).namespace),
    ...{ writer: tenant, stands: release.root.origin.repository },
  }
  const sources = named.filter(one => addressOfSource(access.config, one) === url)
  const answers = (sources.length > 0 ? sources : [undefined]).map(one => askRead(access, reader, one, url))
  const best = (state: ReadDecision['state']) => answers.find(one => one.state === state)
  return answers.find(one => one.state === 'read' && !one.lent) ?? best('read') ?? best('ask') ?? answers[0]!
}

function seen(resolved: Resolved): Pick<ChartSource, 'commit' | 'opaque' | 'lent'> {
  const lent = resolved.lent ? { lent: true as const } : {}
  if (resolved.type === 'content') return { commit: resolved.commit, ...lent }
  if (resolved.type === 'opaque') return { commit: '', opaque: resolved.reason, ...lent }
  return { commit: '', opaque: resolved.asks ? ASKED : WANTED, ...lent }
}

/** A chart of too many sources is an error that the rules say. */
function contentOf(release: KubeObject, objects: ClusterObjects): ReturnType<typeof chartContent> {
  return unlessRefused(undefined, () => chartContent(release, objects))
}

/** `named` takes down the sources that were looked for. */
function clusterObjects({ index, sources, aliases }: NodeContext, named: Map<string, KubeObject>): ClusterObjects {
  return {
    find: ({ kind, namespace, name }: NamedObject) => {
      const id = `${kind.slice(kind.indexOf('/') + 1)}/${namespace}/${name}`
      const object = index.find(id)
      if (object === undefined || object === 'bootstrap') return undefined
      if (id.startsWith('GitRepository/')) named.set(id, object)
      return object
    },
    generators: namespace => index.generators(namespace),
    root: { url: sources.own.url, ref: sources.own.ref },
    aliases,
  }
}

/** Notes at each node of a cluster where its charts come from; too many sources of a tenant are the error of its node. */
export function noteCharts(walk: Pick<Walk, keyof Parameters<typeof chartSources>[0] | 'drafts'>): void {
  const known = new Map<string, Set<string>>()
  for (const draft of walk.drafts.values()) {
    // the releases there take their charts from sources that are there
    if (draft.hub !== undefined) continue
    const ofTenant = known.get(draft.tenant ?? '') ?? new Set()
    known.set(draft.tenant ?? '', ofTenant)
    try {
      const charts = chartSources(walk, draft, ofTenant)
      if (charts.length > 0) draft.charts = charts
    } catch (error) {
      if (!(error instanceof BailiwickError)) throw error
      draft.error ??= error
    }
  }
}
