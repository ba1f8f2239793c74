import { BailiwickError } from '../../base/errors.ts'
import { message, part } from '../../base/message.ts'
import { type Artifact, artifactPath } from '../../flux/artifact.ts'
import { type RenderResult, renderWithHoles } from '../../flux/render-with-holes.ts'
import { EXTERNAL_ARTIFACT, isDeployable, ROOT_NAME, ROOT_NAMESPACE, sourceNamed } from '../../kube/flux-kinds.ts'
import { at, type Node, originAt, type Path, type ScalarNode, stringAt } from '../../kube/node.ts'
import { type Hole, idOf, type KubeObject } from '../../kube/object.ts'
import { isDecrypted } from '../../kube/sops.ts'
import { isGitBase } from '../../kustomize/paths.ts'
import { ASKED, type FleetNode, type Lockdown, nodeKey, WANTED } from '../model/fleet.ts'
import { revisionOf } from '../model/input.ts'
import { accountOf, type KustomizationSpec, kubeConfigOf, readName, readSpec } from '../model/kustomization-spec.ts'
import { digestOfTexts, objectTexts } from '../model/same-node.ts'
import { mayRead, type Reader } from '../sources/ask-read.ts'
import { askedBy, type Resolved } from '../sources/sources.ts'
import { authorOf, CONTROLLER, identityOf } from '../tenancy/delegated.ts'
import type { Confinement } from '../tenancy/tenancy.ts'
import type { Root } from './cluster-root.ts'
import { generatedSource, NodeRemotes, whyNotRead } from './node-sources.ts'
import {
  clusterNeeds,
  findValues,
  missingNeed,
  type Need,
  type NodeContext,
  needsOf,
  sealedFiles,
  withPlain,
} from './node-values.ts'
import type { Draft } from './walk.ts'

/** The node of a cluster's root. */
export function rootNode(context: NodeContext, root: Root): Draft {
  const draft = blank(context, root.kustomization, idOf(root.kustomization).name)
  const { digest, error, ...content } = nodeContent(root, undefined, context.lockdown)
  if (error) draft.error = error
  const needs = clusterNeeds(root.kustomization, context.values)
  if (needs) draft.needs = needs
  fill(context, draft, () => {
    const spec = readSpec(root.kustomization, draft.namespace)
    describe(context, draft, spec)
    place(context, draft, `${spec.source.kind}/${spec.source.namespace}/${spec.source.name}`, root.resolved)
    Object.assign(draft, content)
    if (root.resolved.type === 'content') noteSealed(draft, root.resolved.artifact)
    if (!draft.error && root.resolved.type === 'content') draft.digest = digest
  })
  return draft
}

/** What has to be rendered before a node can be: its source, or values that it substitutes. */
type Unopened = UnknownSource | Need

/** The id of the source that is not rendered yet. */
interface UnknownSource {
  readonly unknownSource: string
}

/**
 * The node of a Kustomization, rendered; or what it waits for. What Flux would refuse, or what we cannot read, is the
 * node's error; nothing is thrown.
 */
export function openNode(
  context: NodeContext,
  kustomization: KubeObject,
  parent: Draft,
  name = idOf(kustomization).name,
): Draft | Unopened {
  const draft = blank(context, kustomization, name)
  draft.parent = parent.key
  let unknown: Unopened | undefined
  if (parent.tenant !== undefined) draft.tenant = parent.tenant
  fill(context, draft, () => {
    const { namespace } = readName(kustomization)
    const spec = readSpec(kustomization, namespace)
    const id = `${spec.source.kind}/${spec.source.namespace}/${spec.source.name}`
    draft.source = { id, url: '', ref: {}, commit: '' }
    // What a tenant renders stays the tenant's, even where it follows the fleet's own content.
    const known = parent.tenant ?? context.delegated.nodes.get(draft.key) ?? context.tenancy.owners.get(namespace)
    const early = whyNotRead(context, draft, known, id)
    const look = (tenant: string | undefined) =>
      find(context, spec, id, draft, {
        tenant,
        writer: parent.tenant,
        stands: kustomization.root.origin.repository,
        node: { key: draft.key, follows: id },
      })
    const first = early === undefined ? look(known) : REFUSED
    unknown = 'unknownSource' in first ? first : missing(context, draft, first)
    if ('unknownSource' in first || unknown) return
    const user = known ?? context.tenancy.decide(namespace, contentOf(first, kustomization, context.lockdown))
    // What a tenant wrote stays the tenant's too, where a Kustomization of the platform follows it.
    const authors = [{ ...first, id }, ...(first.includes ?? [])]
    const author = (source: (typeof authors)[number]) => authorOf(context.repositories, source, context.sources)
    const tenant = user ?? authors.map(author).find(name => name !== undefined)
    if (tenant !== undefined) draft.tenant = tenant
    describe(context, draft, spec)
    const opaque = early ?? whyNotRead(context, draft, tenant, id)
    if (opaque !== undefined) {
      draft.source = { id, url: '', ref: {}, commit: '', opaque }
      return
    }
    // the tenant that the node turned out to act for may read less than the platform
    const again = early === undefined && tenant !== known ? look(tenant) : first
    const resolved = 'unknownSource' in again ? first : again
    place(context, draft, id, resolved)
    if (resolved.refused) {
      context.whole.add(draft.key)
      throw resolved.refused
    }
    refuseUnknownSpec(kustomization, tenant !== undefined, context.tenancy.owners)
    if (resolved.type !== 'content') return
    renderNode(context, draft, kustomization, resolved.artifact, parent.tenant)
  })
  return unknown ?? draft
}

/** What a node renders, and what of other repositories is in it. */
function renderNode(
  context: NodeContext,
  draft: Draft,
  kustomization: KubeObject,
  artifact: Artifact,
  writer: string | undefined,
): void {
  const { tenant } = draft
  const stands = kustomization.root.origin.repository
  const remotes = new NodeRemotes(context, kustomization, { tenant, writer, stands })
  // a tenant's build fetches nothing, nor does the platform's under --no-remote-bases
  const mayFetch = tenant === undefined && !context.lockdown.noRemoteBases
  const read = context.values.readFor(kustomization)
  const facts = {
    findSource: findValues(kustomization, context.values, tenant),
    opened: read?.sealed,
    strict: context.lockdown.strictSubstitution ?? true,
    budget: context.budgets.of(tenant),
    holeBudget: context.holeBudgets.of(tenant),
    ...(mayFetch ? { remotes: (url: string, commit: string) => remotes.find(url, commit) } : {}),
  }
  const needs = clusterNeeds(kustomization, context.values)
  if (needs) draft.needs = needs
  const plain = withPlain(artifact, read?.files)
  const rendered = renderWithHoles(plain, kustomization, facts, context.memory?.render(draft.key))
  Object.assign(draft, nodeContent(rendered, tenant, context.lockdown))
  noteSealed(draft, plain)
  withRemotes(draft, remotes)
}

function noteSealed(draft: Draft, artifact: Artifact): void {
  const sealed = sealedFiles(draft, artifact)
  if (sealed) draft.sealedFiles = sealed
}

/** What was read of other repositories counts as included in the source: the node depends on it, and shows its text. */
function withRemotes(draft: Draft, { read, absent }: NodeRemotes): void {
  if (read.length > 0) draft.source = { ...draft.source, includes: [...(draft.source.includes ?? []), ...read] }
  if (absent.length > 0) draft.remotes = absent
}

/** What a Kustomization brings, and as which user. A source that cannot be read may hold anything. */
function contentOf(resolved: Resolved, kustomization: KubeObject, lockdown: Lockdown): Confinement {
  if (resolved.type === 'content' && resolved.own && !resolved.includes) return 'own'
  return accountOf(kustomization, lockdown) === undefined ? 'unconfined' : 'confined'
}

/** Values without which the node would not be rendered as it is on the cluster; once given up, they are not asked for. */
function missing(context: NodeContext, draft: Draft, resolved: Resolved): Need | undefined {
  if (resolved.type !== 'content' || resolved.refused) return undefined
  const need = missingNeed(draft.kustomization, context.values)
  const missed = context.missed.get(draft.key)
  if (!need || !missed) return need
  for (const one of needsOf(draft.kustomization)) if (!context.values.has(one.id)) missed.add(one.id)
  return undefined
}

function blank({ cluster }: NodeContext, kustomization: KubeObject, name: string): Draft {
  const { namespace, name: own } = idOf(kustomization)
  return {
    key: nodeKey(cluster, { namespace, name }),
    cluster,
    namespace,
    name,
    ...(name === own ? {} : { inVersions: true as const }),
    identity: CONTROLLER,
    kustomization,
    source: { id: '', url: '', ref: {}, commit: '' },
    path: '',
    dependsOn: [],
    suspend: false,
    prune: false,
    objects: [],
    digest: '',
  }
}

function fill(context: NodeContext, draft: Draft, step: () => void): void {
  try {
    step()
  } catch (error) {
    if (!(error instanceof BailiwickError)) throw error
    draft.error ??= error
    const owner = context.tenancy.owners.get(draft.namespace)
    if (owner !== undefined) draft.tenant ??= owner
  }
}

function describe(context: NodeContext, draft: Draft, spec: KustomizationSpec): void {
  draft.path = spec.path
  draft.dependsOn = spec.dependsOn.map(name => `${context.cluster}/${name}`)
  draft.suspend = spec.suspend
  draft.prune = spec.prune
  draft.identity = identityOf(draft.kustomization, draft.namespace, draft.tenant, context.lockdown)
  // what acts for a tenant is evaluated by what its hub gives the tenant: a kubeconfig may lead back there (Capsule's does)
  if (draft.tenant !== undefined || draft.parent === undefined) return
  const remote = remoteClusterOf(context.cluster, draft.kustomization)
  if (remote === undefined) return
  draft.hub = context.cluster
  draft.cluster = remote
  // an account that is named is impersonated there, too (fluxcd/pkg runtime/client/impersonator.go)
  if (!draft.identity.impersonated) {
    draft.identity = { user: remote.slice(context.cluster.length + ' -> '.length), impersonated: false }
  }
}

function find(
  context: NodeContext,
  spec: KustomizationSpec,
  id: string,
  draft: Draft,
  reader: Reader,
): Resolved | UnknownSource {
  const { kind } = spec.source
  const origin = originAt(draft.kustomization.root, ['spec', 'sourceRef', 'name'])
  if (!isDeployable(kind)) {
    const fix = 'Set spec.sourceRef.kind to GitRepository, OCIRepository, Bucket or ExternalArtifact.'
    throw new BailiwickError(
      'flux-invalid',
      'spec.sourceRef.kind: not a source kind. Allowed: GitRepository, OCIRepository, Bucket or ExternalArtifact',
      { origin: originAt(draft.kustomization.root, ['spec', 'sourceRef', 'kind']), fix },
    )
  }
  if (declaredAt(context, id)) return resolveAt(context, id, reader)
  if (sourceNamed(kind) === EXTERNAL_ARTIFACT) {
    return generatedSource(context, spec.source, reader.tenant, other => resolveAt(context, other, reader))
  }
  if (!context.index.complete) return { unknownSource: id }
  if (reader.writer === undefined)
    return { type: 'opaque', url: '', ref: {}, reason: NO_OBJECT, unmatched: { why: 'no-object', origin } }
  const fix = 'Declare the source in the fleet, or correct its kind, name and namespace.'
  const text = message`source '${part('object', id)}' not found: the fleet does not declare it`
  throw new BailiwickError('flux-invalid', text, { origin, fix })
}

/** The object of a source; 'bootstrap': the fleet's own. */
function declaredAt({ index, sources }: NodeContext, id: string) {
  const isFleet = id === `GitRepository/${ROOT_NAMESPACE}/${ROOT_NAME}` && sources.own.url === ''
  return isFleet ? 'bootstrap' : index.find(id)
}

function resolveAt(context: NodeContext, id: string, reader: Reader): Resolved | UnknownSource {
  const declared = declaredAt(context, id)
  const may = mayRead(context.access, reader)
  const [kind = ''] = id.split('/')
  const resolved = declared && context.sources.resolve(kind, declared, may, context.index.declarerOf(id))
  if (resolved) return resolved
  if (!context.index.complete) return { unknownSource: id }
  return { type: 'opaque', url: '', ref: {}, reason: NO_OBJECT }
}

function place(context: NodeContext, draft: Draft, id: string, resolved: Resolved): void {
  const { url, ref, includes, lent, artifactOf, unmatched, verify } = resolved
  const source = {
    ...{ id, url, ref, commit: '' },
    ...(context.index.presumed.has(id) ? { presumed: true as const } : {}),
    ...(unmatched ? { unmatched } : {}),
    ...(artifactOf ? { artifact: artifactOf } : {}),
    ...(lent ? { lent } : {}),
    ...(verify ? { verify } : {}),
    ...(includes ? { includes } : {}),
  }
  if (artifactOf) draft.path = inside(artifactOf.folder, draft.path)
  if (resolved.copies) draft.path = copiedFrom(resolved.copies, draft.path)
  if (resolved.type === 'content') {
    draft.source = { ...source, ...revisionOf(resolved) }
    context.artifacts.set(draft.key, resolved.artifact)
    return
  }
  if (resolved.type === 'wanted' && resolved.asks) context.asked.push(askedBy(url, resolved.asks))
  const opaque = resolved.type === 'opaque' ? resolved.reason : resolved.asks ? ASKED : WANTED
  draft.source = { ...source, opaque }
}

/** A path of an artifact as one of the repository that it comes from. */
const inside = (folder: string, path: string) =>
  folder === '' ? path : `./${[folder, artifactPath(path)].filter(Boolean).join('/')}`

/** A path of a generated artifact as one of the repository that is copied there; what holds several is all of it. */
function copiedFrom(copies: NonNullable<Resolved['copies']>, path: string): string {
  const folder = artifactPath(path)
  const isBelow = ({ to }: { to: string }) => to === '' || folder === to || folder.startsWith(`${to}/`)
  const copy = copies.findLast(isBelow)
  return copy ? `./${[copy.from, folder.slice(copy.to.length).replace(/^\//, '')].filter(Boolean).join('/')}` : './'
}

/** Reason of a source of the platform that no manifest declares: Flux needs an object, which may be applied by hand. */
const NO_OBJECT =
  'the fleet does not declare it. Declare it in the fleet, or, if it is applied by hand, under sources in .github/bailiwick.yaml'

/** Stands for a source that is not looked for. */
const REFUSED: Resolved = { type: 'opaque', url: '', ref: {}, reason: '' }

const plain = (text: string) => text.replace(/[^\w.-]/g, '?')

/**
 * Name of the cluster on which an object of the hub acts by its `spec.kubeConfig`: `<hub> -> kubeconfig <namespace>/<name>`,
 * with the key where it names one; undefined for the hub itself, and for a kubeConfig that names nothing, which the API
 * server refuses. Flux reads the Secret or ConfigMap in the namespace of the object
 * (https://fluxcd.io/flux/components/kustomize/kustomizations/#kubeconfig-remote-clusters).
 */
export function remoteClusterOf(hub: string, object: KubeObject): string | undefined {
  const config = kubeConfigOf(object)
  const { namespace } = idOf(object)
  const secret = stringAt(config, ['secretRef', 'name'])
  if (secret) {
    const key = stringAt(at(config, ['secretRef']), ['key']) ?? ''
    // the first key for which Flux looks where none is named
    const suffix = key === '' || key === 'value' ? '' : `/${plain(key)}`
    return `${hub} -> kubeconfig ${plain(namespace)}/${plain(secret)}${suffix}`
  }
  const map = stringAt(config, ['configMapRef', 'name'])
  return map ? `${hub} -> kubeconfig ConfigMap/${plain(namespace)}/${plain(map)}` : undefined
}

/**
 * Throws `unrendered-variable` where the spec of a Kustomization holds an unknown value that lies in a tenant's namespace and
 * is not declared, or that a tenant encrypted in it: paths, patches, components and the like are interpreted, so nothing is
 * rendered from them. Values of `postBuild.substitute` only go on, and are followed.
 */
function refuseUnknownSpec(kustomization: KubeObject, isTenants: boolean, owners: ReadonlyMap<string, string>): void {
  const isEncrypted = isTenants && isDecrypted(kustomization)
  const found = firstUnknown(at(kustomization.root, ['spec']), ['spec'], ({ opaque = [], value }) => {
    if (isEncrypted && typeof value === 'string' && value.startsWith('ENC[')) return true
    return opaque.some(({ namespace, declared }) => declared !== 'key' && owners.has(namespace))
  })
  if (!found) return
  const message = `${found.path.join('.')}: contains an unknown value, which only the cluster has and a tenant controls. Allowed: values in git, and keys that .github/bailiwick.yaml declares`
  throw new BailiwickError('unrendered-variable', message, {
    origin: found.node.origin,
    fix: 'Write the value into git, or declare its key in .github/bailiwick.yaml.',
  })
}

interface Placed {
  readonly path: Path
  readonly node: ScalarNode
}

function firstUnknown(
  node: Node | undefined,
  path: Path,
  isUnknown: (node: ScalarNode) => boolean,
): Placed | undefined {
  if (!node || (path[1] === 'postBuild' && path[2] === 'substitute')) return undefined
  if (node.type === 'scalar') return isUnknown(node) ? { path, node } : undefined
  const below: (readonly [string | number, Node])[] =
    node.type === 'list' ? [...node.items.entries()] : [...node.fields].map(([key, { value }]) => [key, value])
  for (const [step, child] of below) {
    const found = firstUnknown(child, [...path, step], isUnknown)
    if (found) return found
  }
  return undefined
}

/**
 * What a rendering makes of a node. With holes it has an empty digest, so nothing of it is applied; the node of a tenant
 * is an error with any, one of the platform where Flux refuses a hole; with --no-remote-bases it refuses a base in git.
 */
function nodeContent(
  { objects, holes: found, error }: RenderResult,
  tenant: string | undefined,
  { noRemoteBases }: Pick<Lockdown, 'noRemoteBases'>,
): Pick<FleetNode, 'objects' | 'digest' | 'holes' | 'error'> {
  const isRefused = ({ remote }: Hole) => noRemoteBases && remote !== undefined && isGitBase(remote)
  const holes = found.map(hole => (isRefused(hole) ? { ...hole, fatal: true } : hole))
  if (holes.length === 0) return { objects, digest: digestOfTexts(objectTexts(objects)), ...(error ? { error } : {}) }
  const refused = tenant === undefined ? fatalError(holes, error) : error
  return { objects, digest: '', holes, ...(refused ? { error: refused } : {}) }
}

/** Why Flux refuses a build with these holes: what the build stopped at, where that is one of them. */
function fatalError(holes: readonly Hole[], error: BailiwickError | undefined): BailiwickError | undefined {
  const fatal = holes.filter(hole => hole.fatal)
  const isSame = (hole: Hole) => hole.error.code === error?.code && hole.error.message === error.message
  return (fatal.find(isSame) ?? fatal[0])?.error
}
