import { createHash, hash } from 'node:crypto'
import { asUtf8 } from '../../base/encoding.ts'
import { BailiwickError, type ErrorCode } from '../../base/errors.ts'
import { type Artifact, artifactPath, markPacked, packTree } from '../../flux/artifact.ts'
import { isKustomization } from '../../flux/references.ts'
import { renderKustomization } from '../../flux/render-kustomization.ts'
import { isFatal } from '../../flux/render-with-holes.ts'
import { readUnlessLarge, type Tree } from '../../git/tree.ts'
import { canonical, originAt, stringAt } from '../../kube/node.ts'
import { display, groupOf, idOf, type KubeObject } from '../../kube/object.ts'
import { isSecondVersion, nodeKey } from '../model/fleet.ts'
import { addressIn } from '../model/fleet-config.ts'
import { isSameSpec, objectTexts, versionlessKey } from '../model/same-node.ts'
import { namedRepositories } from '../model/source-access.ts'
import { setsIn } from '../rendering/render-resource-set.ts'
import { componentsOf, recordReads, touchReachable } from '../rendering/trees.ts'
import { SOURCE_GROUPS } from '../sources/sources.ts'
import { type NodeContext, needsOf } from './node-values.ts'
import { openNode } from './open-node.ts'
import type { Claim, Draft, Walk } from './walk.ts'

/** No real fleet nests deeper; endless ones stop here. */
const MAX_DEPTH = 16
/** Kustomizations of one tenant on one cluster: a tenant who makes more stops only themselves. */
const MAX_TENANT_NODES = 1_000
const MAX_PLATFORM_NODES = 20_000

/**
 * The name of the node that a rendered Kustomization becomes; undefined: none. What may not is an error of the node that
 * renders it; a tenant's Kustomization in a namespace that is not theirs is left to the rule `namespace-confinement`, and
 * never followed.
 */
export function admitChild(walk: Walk, claim: Claim): string | undefined {
  const { parent, kustomization } = claim
  const id = idOf(kustomization)
  const key = nodeKey(walk.cluster, id)
  if (key === parent.key || (isSecondVersion(parent) && key === nodeKey(walk.cluster, idOf(parent.kustomization)))) {
    // Every bootstrapped fleet renders its own root; only a different one would be a fight.
    if (isSameSpec(kustomization, parent.kustomization) || rendersSame(walk, claim)) return undefined
    const version = versionOf(walk, claim, walk.drafts.get(key))
    if (version === undefined) {
      refuse(
        walk,
        claim,
        'graph-conflict',
        `${display(id)}: renders another version of itself. Allowed: the version that declares it`,
        `${display(id)} renders itself differently from what declares it`,
      )
    }
    return version
  }
  if (parent.tenant !== undefined && walk.tenancy.owners.get(id.namespace) !== parent.tenant) return undefined
  const known = walk.drafts.get(key)
  if (known) {
    // two of the platform that say the same leave nothing open
    const isPlatforms = parent.tenant === undefined && tenantOfParent(walk, known) === undefined
    if (isPlatforms && isSameSpec(kustomization, known.kustomization)) return undefined
    const version = versionOf(walk, claim, known)
    if (version !== undefined) return version
    refuseTwice(walk, claim)
    return undefined
  }
  return isWithinLimits(walk, claim) ? id.name : undefined
}

function isWithinLimits(walk: Walk, claim: Claim): boolean {
  const { parent } = claim
  const limit = parent.tenant === undefined ? MAX_PLATFORM_NODES : MAX_TENANT_NODES
  if ((walk.counts.get(parent.tenant ?? '') ?? 0) >= limit) {
    refuse(walk, claim, 'graph-limits', `cluster ${walk.cluster}: more than ${limit} Kustomizations of one owner`)
    return false
  }
  if (depthOf(walk, parent.key) >= MAX_DEPTH) {
    refuse(walk, claim, 'graph-limits', `Kustomizations are nested more than ${MAX_DEPTH} levels deep`)
    return false
  }
  return true
}

/** Two versions of a Kustomization that are not both the platform's. */
export function refuseTwice(walk: Walk, claim: Claim): void {
  const who = display(idOf(claim.kustomization))
  const text = `rendered twice on cluster ${walk.cluster}`
  refuse(walk, claim, 'graph-conflict', `${who}: ${text}. Allowed: one Kustomization of this name`, `${who} is ${text}`)
}

/**
 * The name of a second version of a Kustomization: what the platform renders twice, Flux applies in turn, so both are
 * evaluated, and the worker applies neither. Undefined where it may not have one.
 */
function versionOf(walk: Walk, claim: Claim, known: Draft | undefined): string | undefined {
  const { parent, kustomization } = claim
  const { namespace, name } = idOf(kustomization)
  const version = `${name} (by ${parent.name})`
  const isPlatforms = known?.parent !== undefined && [known, parent].every(one => one.tenant === undefined && !one.hub)
  if (!isPlatforms || walk.tenancy.owners.has(namespace) || tenantOfParent(walk, known) !== undefined) return undefined
  if (walk.drafts.has(nodeKey(walk.cluster, { namespace, name: version })) || !isWithinLimits(walk, claim))
    return undefined
  known.inVersions = true
  return version
}

/** Whether what a Kustomization says of itself applies what the version does that declares it, with the same rights. */
function rendersSame(walk: Walk, claim: Claim): boolean {
  const { parent } = claim
  const other = renderedApart(walk, claim)
  if (!other) return false
  const { digest, identity, cluster, suspend, source } = parent
  return (
    other.digest === digest &&
    other.identity.user === identity.user &&
    other.cluster === cluster &&
    other.suspend === suspend &&
    other.source.id === source.id
  )
}

/** What a Kustomization of the platform would be as a node of its own; undefined if it is not known as a whole. */
function renderedApart(walk: Walk, { kustomization, parent }: Claim): Draft | undefined {
  if (parent.tenant !== undefined) return undefined
  const { artifacts, missed, whole } = walk
  // what the node itself was rendered from stays as it is
  const apart = { ...walk, artifacts: new Map(artifacts), missed: new Map(missed), whole: new Set(whole) }
  const other = openNode(apart, kustomization, parent)
  return 'key' in other && other.digest !== '' && !other.error ? other : undefined
}

/** Digest of all that a refused child would apply; undefined if it is not known, or leads further than to itself. */
function hiddenBy(walk: Walk, claim: Claim): string | undefined {
  const { kustomization, parent } = claim
  const key = nodeKey(walk.cluster, idOf(kustomization))
  const other = key === parent.key ? undefined : renderedApart(walk, claim)
  const isItself = (object: KubeObject) =>
    nodeKey(walk.cluster, idOf(object)) === key && isSameSpec(object, kustomization)
  const leads = other?.objects.some(object => isKustomization(object) && !isItself(object))
  if (!other || leads || setsIn(other.objects).length > 0) return undefined
  const { digest, identity, cluster, suspend } = other
  return hash('sha256', JSON.stringify([canonical(kustomization.root), digest, identity.user, cluster, suspend]))
}

/** Tenant of the node that renders a node's Kustomization. */
const tenantOfParent = (walk: Walk, { parent }: Draft) =>
  parent === undefined ? undefined : walk.drafts.get(parent)?.tenant

function depthOf(walk: Walk, key: string): number {
  let depth = 0
  for (
    let here = walk.drafts.get(key);
    here;
    here = here.parent === undefined ? undefined : walk.drafts.get(here.parent)
  )
    depth++
  return depth
}

/** Where all that it would apply is known, it is a hole of its parent; else nothing of the parent is. */
function refuse(walk: Walk, claim: Claim, code: ErrorCode, message: string, identity = message): void {
  const { parent, kustomization } = claim
  const origin = originAt(kustomization.root, ['metadata', 'name'])
  // a tenant who renders what someone else renders breaks a rule; the platform's own conflicts cannot be decided
  const rule = code === 'graph-conflict' && parent.tenant !== undefined ? 'ownership-conflict' : undefined
  const fix = 'Remove this Kustomization, or rename it.'
  const error = new BailiwickError(code, message, { origin, rule, fix, identity })
  const hides = code === 'graph-conflict' && !parent.error ? hiddenBy(walk, claim) : undefined
  if (hides === undefined) {
    parent.error ??= error
    return
  }
  parent.holes = [...(parent.holes ?? []), { error, fatal: false, effect: 'missing', hides }]
  parent.digest = ''
}

/**
 * Adds to a node that failed, or of which something was left out, what its rendering reads or would read. A change
 * elsewhere then cannot touch it; a change in what could not be followed never counts as one. `followed`: what nodes of the
 * cluster follow.
 */
export function failedNode(context: NodeContext, draft: Draft, followed: ReadonlySet<string>): void {
  const hash = createHash('sha256').update(canonical(draft.kustomization.root)).update(JSON.stringify(draft.source.ref))
  const values = needsOf(draft.kustomization).map(({ id }) => context.values.describe(id))
  for (const value of values) hash.update(value)
  if (values.length > 0) draft.values = createHash('sha256').update(JSON.stringify(values)).digest('hex')
  const artifact = context.artifacts.get(draft.key)
  const reads = artifact && (isWhole(context, draft) ? wholeTree(artifact) : readsOf(artifact, draft, context))
  if (reads) hash.update(reads.key)
  draft.inputs = hash.digest('hex')
  const replaced = namedRepositories(objectTexts(replacedSources(draft)))
  if (replaced.length > 0) draft.hides = withAliases(context, replaced)
  // names in a tenant's node do not count: the tenant could block any repository's pull requests
  if (reads && artifact && draft.tenant === undefined) {
    const own = canonical(draft.kustomization.root)
    // of what nothing is known, and nothing was, any file may say where it leads
    const isDark = draft.unknown && draft.objects.length === 0
    const named = namedRepositories([own, ...values, ...textsAt(artifact.tree, isDark ? undefined : reads.paths)])
    // where only parts were left out, what the rest of it names leads there in the open
    const known = keepsLast(draft) ? draft.retained! : []
    const open = new Set([
      ...namedRepositories(objectTexts([...draft.objects, ...known])),
      ...(isDark || known.length > 0 ? followed : []),
    ])
    const hidden = named.filter(name => !open.has(name))
    draft.hides = withAliases(context, [...hidden, ...replaced])
  }
}

const withAliases = ({ aliases }: NodeContext, names: readonly string[]): string[] =>
  [...new Set(names.flatMap(name => [name, addressIn(aliases, name)]))].sort()

/** Sources that the cluster may have as the last complete build gave them, while what is rendered now is followed. */
function replacedSources({ objects, retained = [] }: Draft): KubeObject[] {
  const present = new Map(objects.map(object => [versionlessKey(object), object]))
  return retained.filter(object => {
    const now = SOURCE_GROUPS.has(groupOf(idOf(object).apiVersion)) ? present.get(versionlessKey(object)) : undefined
    return now !== undefined && !isSameSpec(now, object)
  })
}

/**
 * Flux refuses it, so the cluster has what its last complete build gave: that is in the fleet, and what it leads to is open.
 * Only what is named beside that may newly matter once it is fixed.
 */
const keepsLast = ({ error, retained = [] }: Draft) => error !== undefined && isFatal(error) && retained.length > 0

/** What was too much once is not rendered again to see what it reads. */
const isWhole = ({ whole }: NodeContext, { key, error }: Draft) =>
  whole.has(key) || error?.code === 'evaluation-limits' || error?.code === 'render-limits'

interface Reads {
  readonly key: string
  /** Undefined: everything. */
  readonly paths: readonly string[] | undefined
}

const wholeTree = ({ tree }: Artifact): Reads => ({ key: tree.id, paths: undefined })

/** Text of the files at the paths, and of those directly in a directory among them. */
function* textsAt(tree: Tree, paths: readonly string[] | undefined): Generator<string> {
  const decoder = new TextDecoder()
  const queue = paths === undefined ? [''] : [...paths]
  for (let path = queue.pop(); path !== undefined; path = queue.pop()) {
    const { type } = tree.entry(path) ?? {}
    const bytes = type === 'file' ? readUnlessLarge(tree, path) : undefined
    if (bytes) yield decoder.decode(asUtf8(bytes).slice())
    if (type !== 'directory') continue
    for (const below of tree.list(path)) if (below.type === 'file' || paths === undefined) queue.push(below.path)
  }
}

/** Everything, where finding out would take more than the tenant may still use up. */
function readsOf(artifact: Artifact, { kustomization, tenant }: Draft, context: NodeContext): Reads {
  const budget = context.readBudgets.of(tenant)
  let recorded = recordReads(artifact.tree)
  try {
    recorded = recordReads(packTree(artifact.tree, artifact.ignore, budget.pack, artifact.root))
    const below = artifactPath(stringAt(kustomization.root, ['spec', 'path']) ?? '')
    const path = [artifact.root ?? '', below].filter(Boolean).join('/')
    touchReachable(recorded.tree, path, componentsOf(kustomization), budget.build)
    markPacked(recorded.tree, artifact.ignore)
    renderKustomization({ ...artifact, tree: recorded.tree }, kustomization, { budget })
  } catch (error) {
    if (!(error instanceof BailiwickError)) throw error
    // What cannot even be packed fails as a whole, so it changes as a whole.
    if (recorded.isUntouched() || error.code === 'render-limits') return wholeTree(artifact)
  }
  return { key: recorded.key(), paths: recorded.paths() }
}
