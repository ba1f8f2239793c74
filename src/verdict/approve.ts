import type { Origin } from '../base/origin.ts'
import { actsAsKubeConfig } from '../fleet/model/kustomization-spec.ts'
import { digestOfTexts } from '../fleet/model/same-node.ts'
import type { SourceRef } from '../fleet/model/source-ref.ts'
import type { ApplySettings } from '../flux/apply-settings.ts'
import { isListedFor, type ListedKey, SERVICE_NAMES } from '../kube/sops.ts'
import {
  type EvaluatedNode,
  type Finding,
  type NodeFailure,
  SEALED_FIELDS,
  SEALED_FILES,
  SEALED_PATCHES,
  UNKNOWN_VALUES,
} from '../rules/model/finding.ts'

/**
 * A node that may be applied now: exactly these objects were evaluated in the present revision set, and they passed.
 */
export type ApprovedNode = Omit<EvaluatedNode, 'findings' | 'failures' | 'refused' | 'hides' | 'holes' | 'problems'> & {
  readonly revisionSet: string
  /** Places of objects with values that no message may quote. */
  readonly confidential?: readonly number[]
  /** Why its encrypted objects could not be decrypted: it fails, and nothing of it is applied. */
  readonly unopened?: string
  /** Digest of all that decides what an apply does: the objects, as whom, and the settings. Equal digests apply equally. */
  readonly applyDigest: string
}

export interface Held {
  readonly node: string
  readonly reason: string
  /** By itself it would have no finding: only these values, or an ancestor, hold it back. */
  readonly by?: 'values' | 'parent'
  /** What it violates, or what cannot be evaluated of it. */
  readonly found?: Finding | NodeFailure
}

export interface Approval {
  /** Parents first, in the order of the evaluation. The whole of what may be applied now, not a difference. */
  readonly apply: readonly ApprovedNode[]
  readonly held: readonly Held[]
  /** What may be applied, or might be, once the values of the cluster that it depends on are read and evaluated; parents first. */
  readonly open: readonly EvaluatedNode[]
}

/**
 * Returns what may be applied. Pure; never throws. A node may be applied only if the evaluation is complete and of the
 * present revision set of the bound branch, the node has neither an error nor a violation outside the baseline, its
 * content is visible, it impersonates an account, and its parent may be applied too.
 */
export function approve(state: ApprovalState): Approval {
  const { binding, evaluated, heads } = state
  const isBound = heads.fleet.url === binding.fleet && heads.fleet.branch === binding.branch
  if (!isBound || heads.revisionSet !== evaluated.revisionSet) return { apply: [], held: [], open: [] }
  const nodes = evaluated.nodes.filter(node => (node.hub ?? node.cluster) === binding.cluster)
  const why = new Map<string, Why | undefined>()
  for (const node of nodes)
    why.set(node.key, why.has(node.key) ? { reason: 'two nodes have this key' } : ownReason(node, state))
  const apply: ApprovedNode[] = []
  const held: Held[] = []
  const open: EvaluatedNode[] = []
  const otherwise = new Map([...why].map(([key, one]) => [key, one?.by === 'values' ? undefined : one]))
  const byKey = new Map(nodes.map(node => [node.key, node]))
  for (const node of nodes) {
    const reason = why.get(node.key) ?? chainReason(node, byKey, why)
    if (!reason) apply.push(approved(node, heads.revisionSet))
    else held.push({ node: node.key, ...reason })
    if (isOpened(node) && otherwise.get(node.key) === undefined && chainReason(node, byKey, otherwise) === undefined)
      open.push(node)
  }
  return { apply, held, open }
}

type Why = Omit<Held, 'node'>

/** Why the node itself may not be applied, whatever its parents are. */
function ownReason(node: EvaluatedNode, state: ApprovalState): Why | undefined {
  const reason = ownText(node, state)
  if (reason === undefined) return undefined
  if (reason === AWAITS_VALUES || reason === NOT_OPENED) return { reason, by: 'values' }
  const found = node.failures[0] ?? blockingIn(node, state.evaluated)
  return found ? { reason, found } : { reason }
}

const AWAITS_VALUES = 'it depends on values of the cluster that are not known'
/** None of its own fields leads to them. */
const NOT_OPENED =
  'it depends on values that only the cluster has, and names no ConfigMap, Secret or encrypted file that gives them. Encrypted files of a secretGenerator may be YAML without comments, JSON, binary or, under envs, dotenv'

const isOpened = ({ needs, decryption }: EvaluatedNode) => needs !== undefined || decryption !== undefined

const OPENABLE: ReadonlySet<string> = new Set([UNKNOWN_VALUES, SEALED_FILES, SEALED_FIELDS, SEALED_PATCHES])

/** What a worker may come to know by reading the cluster. */
const isOpenable = (refused: readonly string[]) => refused.length > 0 && refused.every(one => OPENABLE.has(one))

function blockingIn({ findings }: EvaluatedNode, evaluated: KnownEvaluation): Finding | undefined {
  const baseline = new Set(evaluated.baseline)
  return findings.find(one => blocks(one, baseline))
}

function ownText(node: EvaluatedNode, state: ApprovalState): string | undefined {
  const { heads, evaluated } = state
  if (!heads.complete) return 'a source that the graph needs could not be read yet'
  const isSealed = isSealedByPatches(node)
  if (!isSealed && node.failures.length > 0) return `it could not be evaluated: ${node.failures[0]!.message}`
  const [hole] = node.holes ?? []
  if (!isSealed && hole !== undefined) return `a part of it was left out of the evaluation: ${hole}`
  const blocking = blockingIn(node, evaluated)
  if (blocking) return `it violates ${blocking.rule}: ${blocking.message}`
  if (node.source.opaque !== null) return `its source is not visible: ${node.source.opaque}`
  if (node.source.assumed)
    return 'its content is only assumed to be that of git. To prove it, sign it (spec.verify with matchOIDCIdentity of its workflow) and declare it under artifacts in .github/bailiwick.yaml'
  if (node.user.trim() === '' || !(node.impersonated || isByKubeConfig(node))) return 'it impersonates no account'
  if (!isSealed && (node.digest === '' || digestOfTexts(node.objects) !== node.digest))
    return 'its objects differ from the evaluated ones'
  if (!isPresent(node, heads)) return 'its source is at another commit now'
  const [problem] = node.problems ?? []
  if (problem) return `${problem.message} (${placeText(problem.origin)}). ${problem.fix}`
  const elsewhere = elsewhereReason(node, state)
  if (elsewhere !== undefined) return elsewhere
  const sealed = sealedReason(node, state)
  if (sealed !== undefined) return sealed
  if (isOpenable(node.refused)) return isOpened(node) ? AWAITS_VALUES : NOT_OPENED
  if (node.refused.length > 0) return `the worker does not support ${node.refused.join(', ')} yet`
  return undefined
}

/** Whether all that could not be evaluated of it is what encrypted patches change. It is never applied as it was evaluated. */
function isSealedByPatches({ refused, digest, failures, holes = [] }: EvaluatedNode): boolean {
  const left = new Set(holes)
  return refused.includes(SEALED_PATCHES) && digest === '' && failures.every(({ message }) => left.has(message))
}

/** Of the platform, evaluated as another cluster: the user of its kubeconfig applies it, never the worker. */
function isByKubeConfig({ tenant, hub, cluster, user, settings }: EvaluatedNode): boolean {
  return (
    tenant === null &&
    hub !== undefined &&
    hub !== cluster &&
    settings.kubeConfig !== undefined &&
    actsAsKubeConfig(user)
  )
}

/** Why it may not be applied where its kubeConfig leads; what names none is applied where it was evaluated. */
function elsewhereReason({ cluster, settings }: EvaluatedNode, { binding }: ApprovalState): string | undefined {
  if (settings.kubeConfig === undefined)
    return cluster === binding.cluster ? undefined : `it is evaluated as ${cluster}, to which no kubeConfig leads`
  if (binding.kubeConfigs?.some(one => one.cluster === cluster)) return undefined
  return `spec.kubeConfig: clusters.yaml lists no API server for what is evaluated as ${cluster}. List it under kubeConfigs of ${binding.cluster}`
}

/** Which of its objects only a key of a service opens that the operator does not list for its namespace. */
function sealedReason({ decryption, namespace }: EvaluatedNode, { binding }: ApprovalState): string | undefined {
  const { cluster, kmsKeys = [] } = binding
  for (const keys of decryption?.services ?? []) {
    if (keys.some(key => kmsKeys.some(one => isListedFor(one, key, namespace)))) continue
    const named = keys.slice(0, 3).map(({ service, key }) => `${SERVICE_NAMES[service]} key ${key.slice(0, 400)}`)
    return `a file is encrypted for ${named.join(' or ')}, and clusters.yaml does not list it for the namespace ${namespace}. List it under kmsKeys of ${cluster}, or add an age or PGP recipient with \`sops updatekeys\``
  }
  return undefined
}

/** Existing findings count only from the baseline file: one that only a base had is no reason to apply it. */
/** The API server answers the account in the same way when it is asked: no engine that learned the rule holds back a node by it. */
const ASKED_AGAIN = 'account-cannot-apply'

function blocks({ rule, state, fingerprint }: Finding, baseline: ReadonlySet<string>): boolean {
  if (rule === ASKED_AGAIN) return false
  if (state === 'waived' || state === 'fixed') return false
  return state !== 'standing' || !baseline.has(fingerprint)
}

function isPresent(node: EvaluatedNode, heads: ApprovalState['heads']): boolean {
  return [node.source, ...(node.source.includes ?? [])].every(({ url, commit }) => {
    if (commit === '') return false
    if (url === heads.fleet.url && commit === heads.fleet.commit) return true
    return heads.sources.some(source => source.url === url && source.commit === commit)
  })
}

/** A node's spec comes from its parent's rendering: a parent that may not be applied holds its children. */
function chainReason(
  node: EvaluatedNode,
  byKey: ReadonlyMap<string, EvaluatedNode>,
  why: ReadonlyMap<string, Why | undefined>,
): Why | undefined {
  const seen = new Set([node.key])
  for (let parent = node.parent; parent !== null; ) {
    const above = byKey.get(parent)
    if (!above || seen.has(parent)) return { reason: `its parent ${parent} is not part of the evaluation` }
    if (why.get(parent) !== undefined) return { reason: `its parent ${parent} is held back`, by: 'parent' }
    seen.add(parent)
    parent = above.parent
  }
  return undefined
}

function approved(node: EvaluatedNode, revisionSet: string): ApprovedNode {
  const { findings: _f, failures: _e, refused: _r, hides: _h, holes: _o, problems: _p, ...rest } = node
  return { ...rest, revisionSet, applyDigest: applyDigest(rest) }
}

/** When something is applied is not a part of it: intervals, and what is waited for by name. */
function applyDigest({ digest, user, prune, settings }: Pick<EvaluatedNode, 'digest' | 'user' | 'prune' | 'settings'>) {
  const { intervalMs: _i, retryIntervalMs: _r, timeoutMs: _t, readyExprs: _e, requestedAt: _a, ...applied } = settings
  return digestOfTexts([digest, user, String(prune), canonicalSettings(applied)])
}

/** Keys in the order of the reader: it writes each setting, so that equal settings have equal texts. */
const canonicalSettings = (settings: Partial<ApplySettings>): string => JSON.stringify(settings)

const placeText = ({ repository, file, line }: Pick<Origin, 'repository' | 'file' | 'line'>): string =>
  repository === '' ? `${file}:${line}` : `${file}:${line} of ${repository}`

/** What the operator bound a cluster to: only this branch of this repository ever reaches it. */
interface Binding {
  readonly cluster: string
  /** Normalized address of the fleet repository. */
  readonly fleet: string
  readonly branch: string
  /** The clusters as which API servers are listed that kubeConfigs may lead to; absent: none. */
  readonly kubeConfigs?: readonly { readonly cluster: string }[]
  /** Keys of services by which its Kustomizations may be decrypted; absent: none. */
  readonly kmsKeys?: readonly ListedKey[]
}

/** The present commits of the bound branch and of each source, and the revision set that they form. */
export interface Heads {
  /** revisionSetOf the complete input. */
  readonly revisionSet: string
  /** Nothing that the graph needs was left unread. */
  readonly complete: boolean
  readonly fleet: { readonly url: string; readonly branch: string; readonly commit: string }
  readonly sources: readonly { readonly url: string; readonly ref: SourceRef; readonly commit: string }[]
}

/** The evaluation of one revision set, without a base: against the baseline file of the same fleet commit. */
interface KnownEvaluation {
  readonly revisionSet: string
  readonly nodes: readonly EvaluatedNode[]
  /** Fingerprints that the fleet's own baseline file lists at these commits. */
  readonly baseline: readonly string[]
}

/** What decides what may be applied to one cluster, as plain data. */
export interface ApprovalState {
  readonly binding: Binding
  readonly evaluated: KnownEvaluation
  /** Read after the evaluation. */
  readonly heads: Heads
}
