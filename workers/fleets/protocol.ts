import { hash } from 'node:crypto'
import type { ErrorCode } from '../../src/base/errors.ts'
import type { ClusterValues } from '../../src/fleet/model/fleet.ts'
import type { GatedBranch } from '../../src/fleet/model/fleet-config.ts'
import { type OpaqueSource, revisionKey } from '../../src/fleet/model/input.ts'
import type { AskedRepository, RepositoryFact } from '../../src/fleet/model/source-access.ts'
import type { SourceRef, WantedSource } from '../../src/fleet/model/source-ref.ts'
import type { WalkProgress } from '../../src/fleet/rendering/render-memory.ts'
import type { TreeSnapshot } from '../../src/git/tree.ts'
import type { Evaluation, NodeFailure } from '../../src/rules/model/finding.ts'
import type { CoveredPolicy } from '../../src/rules/policies/policy-coverage.ts'
import type { AdoptRequest, FleetChange } from '../../src/tenants/adopt/adoption.ts'
import type { OffboardPlan } from '../../src/tenants/offboard/plan.ts'
import type { OffboardRequest } from '../../src/tenants/offboard/request.ts'
import type { OnboardPlan } from '../../src/tenants/onboard/plan.ts'
import type { OnboardRequest } from '../../src/tenants/onboard/request.ts'
import type { AccessOverview } from '../../src/verdict/audit/access-overview.ts'
import type { ClusterAudit } from '../../src/verdict/audit/audit-item.ts'
import type { FleetSurvey } from '../../src/verdict/audit/survey-fleet.ts'
import type { PlannedPrune } from '../../src/verdict/change-prunes.ts'
import type { Changes } from '../../src/verdict/diff/changes.ts'

/** A FleetInput as it crosses to the rendering thread: trees are snapshots whose bytes are shared memory. */
export interface RevisionSetSnapshot {
  readonly fleet: {
    readonly url: string
    readonly branch: string
    readonly commit: string
    readonly tree: TreeSnapshot
  }
  readonly sources: readonly {
    readonly url: string
    readonly ref: SourceRef
    readonly commit: string
    readonly tree: TreeSnapshot
    readonly tag?: string
    readonly originRevision?: string
  }[]
  readonly opaque: readonly OpaqueSource[]
  /** GitHub's facts about repositories that nothing of the fleet lists, sorted by address. */
  readonly facts: readonly RepositoryFact[]
  readonly disabledRules: readonly string[]
  /** Hosts of registries that may be asked for artifacts. */
  readonly registries: readonly string[]
}

/** The fleet's repository at an earlier commit. */
export interface EarlierSnapshot {
  readonly commit: string
  readonly tree: TreeSnapshot
}

/** Evaluate `head`; with `base`, also report what is new compared with it. */
export interface EvaluateRequest {
  readonly type: 'evaluate'
  readonly head: RevisionSetSnapshot
  readonly base?: RevisionSetSnapshot
  /** Address of the repository that the change is in, if it is not the fleet on its branch. */
  readonly changed?: string
  /** The UTC day, `YYYY-MM-DD`; waivers end on a day. */
  readonly today: string
  /** What the fleet's repository held before `base`, or `head` without one: its first parents, the next one first. */
  readonly earlier?: { readonly states: readonly EarlierSnapshot[]; readonly isAll: boolean }
  /** Values that were read on a cluster. With them, only its worker gets the answer, and it is not cached. */
  readonly values?: ClusterValues
  /** Keys of nodes at which an evaluation had to be ended before: errors, not rendered. */
  readonly stopped?: readonly string[]
}

/** Plan an onboarding: it renders the whole fleet before and after. */
interface PlanRequest {
  readonly type: 'plan'
  readonly request: OnboardRequest
  readonly tree: TreeSnapshot
  readonly url: string
  readonly branch: string
}

/** Compute a change of the fleet's own repository: it renders the whole fleet before and after. */
export interface ChangeRequest {
  readonly type: 'change'
  readonly ask:
    | { readonly kind: 'adopt'; readonly request: AdoptRequest }
    | { readonly kind: 'lockdown'; readonly cluster: string }
  readonly tree: TreeSnapshot
  readonly url: string
  readonly branch: string
}

/** Plan the next change of an offboarding. */
interface OffboardPlanRequest {
  readonly type: 'offboard'
  readonly request: OffboardRequest
  readonly tree: TreeSnapshot
  readonly url: string
  readonly branch: string
}

/** Survey a whole fleet; `head` contains every source that it needs. */
export interface SurveyRequest {
  readonly type: 'survey'
  readonly head: RevisionSetSnapshot
  readonly today: string
}

/** Audit the isolation of a fleet's tenants, and list who can change what. */
export interface OverviewRequest {
  readonly type: 'overview'
  readonly head: RevisionSetSnapshot
  /** Number of the namespace to continue from: the thread is not held for long at once. */
  readonly from: number
}

export type EvaluationRequest =
  | EvaluateRequest
  | PlanRequest
  | ChangeRequest
  | OffboardPlanRequest
  | SurveyRequest
  | OverviewRequest

/** A repository that the fleet pins for a tenant; its address must still lead to it. */
export interface PinnedRepository {
  readonly url: string
  /** GitHub's id of it. */
  readonly id: number
}

/** The progress of a running evaluation. */
export interface EvaluationProgress extends WalkProgress {
  readonly type: 'progress'
}

/** An error of ours, as it crosses from the thread: with the types of its values. */
interface RefusedAnswer extends Pick<NodeFailure, 'message' | 'fix' | 'typed' | 'typedFix'> {
  readonly type: 'refused'
  readonly code: ErrorCode
}

export type EvaluationAnswer =
  | { readonly type: 'planned'; readonly plan: OnboardPlan }
  | { readonly type: 'changed'; readonly change?: FleetChange | undefined }
  | { readonly type: 'offboard'; readonly plan: OffboardPlan }
  | {
      readonly type: 'wanted'
      /** Sources that may be read; nothing else may be. */
      readonly wanted: readonly WantedSource[]
      /** Repositories whose facts are needed for that decision. */
      readonly asked: readonly AskedRepository[]
      /** Something does not build: earlier states of the fleet's repository are needed. */
      readonly earlier?: true
      readonly pinned?: readonly PinnedRepository[]
    }
  | {
      readonly type: 'evaluated'
      /** With a base, without the objects of its nodes (see leanEvaluation). */
      readonly evaluation: Evaluation
      readonly baseline: readonly string[]
      readonly pinned: readonly PinnedRepository[]
      /** Branches that its clusters follow or its file lists; empty with a base. */
      readonly gated: readonly GatedBranch[]
      /** What the platform has its clusters follow: only these repositories are gated. */
      readonly followed: readonly WantedSource[]
      /** A part of the platform builds in no commit that was tried, so the repositories that it reads are unknown. */
      readonly isDark: boolean
      /** The rendered changes of the clusters; only with a base. */
      readonly changes?: Changes
      /** What the head would have deleted; only with a base. */
      readonly prunes?: readonly PlannedPrune[]
      /** Nodes at which it was ended because they took too long. */
      readonly stopped?: readonly string[]
    }
  | { readonly type: 'surveyed'; readonly survey: FleetSurvey }
  | {
      readonly type: 'overviewed'
      readonly audit: readonly ClusterAudit[]
      readonly policies: readonly CoveredPolicy[]
      readonly access: AccessOverview
    }
  | RefusedAnswer

/**
 * Hashes everything that a result depends on; trees count by the hash of their content. Equal keys give equal results.
 */
export function requestKey(request: EvaluationRequest): string {
  return hash('sha256', JSON.stringify([request.type, ...partsOf(request)]))
}

function partsOf(request: EvaluationRequest): unknown[] {
  switch (request.type) {
    case 'evaluate': {
      const { head, base, changed = null, today, earlier, values } = request
      const before = earlier ? [earlier.states.map(({ commit, tree }) => [commit, tree.id]), earlier.isAll] : null
      return [revisionSetKey(head), base ? revisionSetKey(base) : null, changed, today, before, values?.digest ?? null]
    }
    case 'survey':
      return [revisionSetKey(request.head), request.today]
    case 'overview':
      return [revisionSetKey(request.head), request.from]
    case 'change':
      return [request.ask, request.tree.id, request.url, request.branch]
    case 'plan':
    case 'offboard':
      return [request.request, request.tree.id, request.url, request.branch]
  }
}

function revisionSetKey({ fleet, sources, opaque, facts, disabledRules, registries }: RevisionSetSnapshot): unknown {
  const contents = sources.map(source => [source.url, source.ref, revisionKey(source), source.tree.id])
  return [fleet.url, fleet.branch, fleet.commit, fleet.tree.id, contents, opaque, facts, disabledRules, registries]
}

/** Longer keys are cut, and then match no node. */
const BYTES = 2_048
const HEAD = 4

/** The node that a thread is working on, in shared memory, so that it can be read when the thread is ended. */
export class RunningNode {
  readonly shared: SharedArrayBuffer
  readonly #length: Int32Array
  readonly #text: Buffer

  constructor(shared: SharedArrayBuffer = new SharedArrayBuffer(BYTES)) {
    this.shared = shared
    this.#length = new Int32Array(shared, 0, 1)
    this.#text = Buffer.from(shared, HEAD)
  }

  set(key: string): void {
    Atomics.store(this.#length, 0, 0)
    Atomics.store(this.#length, 0, this.#text.write(key, 'utf8'))
  }

  /** The key; '' if it is unknown, or no node is in progress. */
  get(): string {
    return this.#text.toString('utf8', 0, Atomics.load(this.#length, 0))
  }
}
