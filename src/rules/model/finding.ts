import type { Message } from '../../base/message.ts'
import type { Origin, SourceLine, Step } from '../../base/origin.ts'
import type { Cluster, NotReached, NotSeen, SealedFile, Tenant, ValueNeed } from '../../fleet/model/fleet.ts'
import type { GitRef } from '../../fleet/model/source-ref.ts'
import type { ApplySettings, SettingsProblem } from '../../flux/apply-settings.ts'
import type { FieldLines } from '../../kube/field-lines.ts'
import type { ObjectId } from '../../kube/object.ts'
import type { ServiceKey } from '../../kube/sops.ts'

export type Severity = 'critical' | 'high' | 'medium' | 'low'

/** Severities, the heaviest first. */
export const SEVERITIES: readonly Severity[] = ['critical', 'high', 'medium', 'low']

/** The automatic fix of a field: another value for it, without it, or with it where it is absent. */
export type Edit =
  | { readonly set: string }
  | { readonly remove: true }
  | { readonly add: string }
  | { readonly rename: string }

/** One violation or warning, as the command line prints it and the check run shows it (plain JSON). */
export interface Finding {
  readonly rule: string
  /** Only a violation fails. */
  readonly level: 'violation' | 'warning'
  /** It would be a violation, but whoever it concerns is only reported on. */
  readonly reported?: true
  readonly severity: Severity
  readonly state: 'new' | 'standing' | 'fixed' | 'waived'
  readonly cluster: string
  readonly tenant: string
  readonly identity: string
  readonly object: ObjectId
  /** JSON pointer of the offending field. */
  readonly field: string
  readonly origin: Omit<Origin, 'via'>
  readonly via: readonly Step[]
  /** `origin` is a line of the base, which the change takes away. */
  readonly isBefore?: true
  readonly message: string
  readonly fix: string
  /** Message and fix with the types of their values, where they have some: not in the JSON of the command line. */
  readonly said?: Message
  readonly saidFix?: Message
  /** Key of the node (`<cluster>/<namespace>/<name>`) that would apply the object. */
  readonly node: string
  /** Identity of the violation across commits: rule, cluster, object, field, value; never file or line. */
  readonly fingerprint: string
  /** What wrote the offending value: findings of a rule with the same cause are one finding to people. Absent without a line. */
  readonly cause?: string
  /** The cause is not written at `origin`: findings at other lines have it too. */
  readonly isShared?: true
  /** The cause of the finding that it follows from. */
  readonly follows?: string
  /** Of what was left out by a rule: the digest of all that it hides. It stands only while this is the same. */
  readonly hides?: string
  /** With `hides`: digest of where, as whom and in which form that is applied; absent where nothing of it is. */
  readonly appliedAs?: string
  /** What would certainly mend it, at `field`. */
  readonly edit?: Edit
  /** Values that `field` may have instead. */
  readonly allowed?: readonly string[]
  /** What the cluster would answer, where that is known for sure and the message does not say it. */
  readonly clusterAnswer?: string
  /** Of a finding that is waived. */
  readonly waiver?: GrantedWaiver
  /** The admission policy of the finding, if a policy caused it. */
  readonly policy?: FindingPolicy
}

/** An admission policy that caused a finding. */
export interface FindingPolicy {
  readonly kind: string
  /** '' for a cluster-scoped policy. */
  readonly namespace: string
  readonly name: string
  /** The rule of the policy, or the binding that applies it. */
  readonly rule: string
  /** `unknown`: the policy was not evaluated for this object; `allow`: it denied the object before the change, `unverified`: it verified an image of it. */
  readonly action: 'deny' | 'warn' | 'audit' | 'unknown' | 'allow' | 'unverified'
  readonly origin: SourceLine
  /** The change does not alter the object, so it alters the policy or something that the policy reads. */
  readonly isUnchanged?: true
}

/** By whom, why and until when a finding is waived. */
export interface GrantedWaiver {
  readonly expires: string
  readonly approver: string
  readonly reason: string
}

/** What could not be evaluated of a node: all of it, or a part that was left out. One for each node that has the cause. */
export interface NodeFailure {
  /** A code of src/base/errors.ts, or the id of the rule that cannot decide. */
  readonly code: string
  /** Standing: the base has the same cause, and it hides the same there; or the baseline file accepts exactly that. */
  readonly state: 'new' | 'standing'
  readonly message: string
  readonly fix: string
  /** See Finding. */
  readonly said?: Message
  readonly saidFix?: Message
  readonly origin: Omit<Origin, 'via'>
  readonly cluster: string
  readonly tenant: string
  readonly node: string
  /** Identity of the cause: code, repository, file, field and value; never the line, the node, the cluster or the tenant. */
  readonly fingerprint: string
  /**
   * Digest of what it keeps from being evaluated: another one with the same cause may hide anything. Absent: what stood
   * before says nothing about it, and no baseline accepts it.
   */
  readonly hides?: string
  /** Of a tenant, with `hides`: see Finding. */
  readonly appliedAs?: string
  /** Flux refuses it too, so nothing of the node is applied until it is fixed. */
  readonly blocksApply?: true
  /** Of an existing error: the commit since which its node does not build as a whole. */
  readonly since?: string
}

/** An account that deploys for a tenant what a source of the tenant's own follows. */
export interface SourceUse {
  readonly tenant: string
  /** Normalised, as the fleet's file calls it. */
  readonly url: string
  readonly ref: GitRef
  readonly account: string
}

/** Something that passes only once a fleet admin approved the change. */
export interface RequiredApproval {
  /** `gate-config-change`, `gate-workflow-change`, or the rule about what cannot be seen. */
  readonly rule: string
  readonly message: string
  /** The file that asks for it. */
  readonly path: string
  /** What several files ask for together: approvals of a rule with the same cause are one to people. */
  readonly because?: string
  /** Of a tenant's own source: what the fleet's file can list instead. */
  readonly source?: SourceUse
}

/** A file of the change, and what becomes of it. */
export interface ChangedFile {
  readonly path: string
  /** `unread`: nothing reads it. `unseen`: it may be applied by what is not visible, so it was not evaluated. */
  readonly state: 'rendered' | 'unread' | 'unseen'
  /** The first Kustomizations that render it, by key; of `unseen` what may apply it, as sentences. */
  readonly by: readonly string[]
  /** How many there are. */
  readonly readers: number
}

/** How much of a fleet was evaluated. */
export interface Evaluated {
  readonly clusters: number
  readonly tenants: number
  /** Flux Kustomizations that a cluster reaches and whose source is visible, and all that there are. */
  readonly kustomizations: { readonly reached: number; readonly present: number }
  readonly objects: number
  /** HelmReleases among them: charts are not rendered, so what they create is not evaluated. */
  readonly releases: number
  /** Distinct causes for which something was left out: holes, and nodes of which nothing could be built. */
  readonly holes: number
}

/** The verdict on a revision set. The first part is the contract of the command line (`check -o json`). */
export interface Verdict {
  readonly result: 'pass' | 'fail' | 'error'
  /** The first line of every result: what was found, and in how much. */
  readonly summary: string
  readonly clusters: readonly VerdictCluster[]
  readonly tenants: readonly Tenant[]
  readonly violations: readonly Finding[]
  readonly warnings: readonly Finding[]
  readonly errors: readonly NodeFailure[]
  readonly notSeen: readonly NotSeen[]
  /** Flux Kustomizations of the fleet's repository that no cluster builds. */
  readonly notReached: readonly NotReached[]
  /** Kinds of objects of which no rule knows what they can do, one for each kind of a node: said, and never decisive. */
  readonly notEvaluated: readonly Finding[]
  /** What the change passes only with: the command line names them, the App asks a fleet admin. Empty without a base. */
  readonly requiredApprovals: readonly RequiredApproval[]
  /** Every file that the change adds, edits or removes, in the order of paths; absent without a base. */
  readonly changedFiles?: readonly ChangedFile[]
  /** Address of the repository that they are in: names of its files are for its readers. */
  readonly changedIn?: string
  readonly evaluated: Evaluated
  /** Of the part of a repository: its Kustomizations below one of which Flux applies nothing, for an error of the fleet's own. */
  readonly belowErrors?: number
  /** Only these clusters and tenants were asked for; an empty list is all of them. */
  readonly filter?: FilteredBy
  /** Hash of everything that the verdict depends on. */
  readonly combination: string
}

/** What opens the encrypted objects of a node. */
export interface Decryption {
  /** A Secret with keys, in the node's namespace; absent: keys of services alone open them. */
  readonly secret?: string
  /** For each object that no key of a Secret opens: the keys of services of which one must be listed by the operator. */
  readonly services?: readonly (readonly Pick<ServiceKey, 'service' | 'key'>[])[]
  /** Text of each encrypted object as it is built, with what SOPS wrote beside its values. With any, nothing is applied. */
  readonly seals: readonly string[]
  /** Its patches, and files that its Secrets are generated from: opened, it is evaluated again before anything is applied. */
  readonly files?: readonly SealedFile[]
}

/** A node with what the worker needs to apply it, as plain JSON: exactly these objects were evaluated. */
export interface EvaluatedNode {
  readonly key: string
  readonly cluster: string
  /** The cluster whose Flux applies it, where that is another one. */
  readonly hub?: string
  readonly namespace: string
  readonly name: string
  readonly parent: string | null
  readonly user: string
  readonly impersonated: boolean
  readonly tenant: string | null
  readonly source: {
    readonly id: string
    readonly url: string
    readonly commit: string
    readonly opaque: string | null
    /** Of its artifact, as Flux writes it: `main@sha1:<commit>`. Absent where only the cluster knows it. */
    readonly revision?: string
    /** Of an artifact in a registry: the revision that it was built from, as it says itself. */
    readonly originRevision?: string
    /** Nothing proves that what Flux fetches is what was evaluated. */
    readonly assumed?: true
    /** JSON text of `spec.verify`: nothing of it is applied before source-controller accepted the signature. */
    readonly verify?: string
    /** Only a tenant's declaration leads there: it counts for that tenant, and not on the repository itself. */
    readonly lent?: true
    /** Sources whose content is part of it; with `verify`, `id` says which one is asked for on the cluster. */
    readonly includes?: readonly {
      readonly url: string
      readonly commit: string
      readonly lent?: true
      readonly id?: string
      readonly verify?: string
    }[]
  }
  /** Where the charts of its releases come from; content in git that it deploys without being rendered. */
  readonly charts?: readonly { readonly url: string; readonly commit: string; readonly lent?: true }[]
  /** Its content may not be shown where it is published: fewer people can see it. */
  readonly narrower?: true
  readonly dependsOn: readonly string[]
  readonly suspend: boolean
  readonly prune: boolean
  /** How its Kustomization wants to be applied. */
  readonly settings: ApplySettings
  /** What of these settings cannot be read: with any, nothing of it is applied. */
  readonly problems?: readonly SettingsProblem[]
  /** How its encrypted objects are opened; absent where none is encrypted. */
  readonly decryption?: Decryption
  /** What it substitutes from and git does not say all of: whoever applies it reads that first. */
  readonly needs?: readonly ValueNeed[]
  readonly digest: string
  /** Violations and errors of this node, whatever their state; approval reads them. */
  readonly findings: readonly Finding[]
  readonly failures: readonly NodeFailure[]
  /** Canonical JSON text of each object, in the order of the build. */
  readonly objects: readonly string[]
  /** Where each of `objects` is written, in their order; absent where they are for a report only. */
  readonly places?: readonly SourceLine[]
  /** HelmReleases among them. */
  readonly releases?: number
  /** Where the values of each of `objects` are written, in their order. */
  readonly lines?: readonly FieldLines[]
  /** Where its Flux Kustomization is written. */
  readonly declared?: SourceLine
  /** The directory of its source that it builds. */
  readonly path?: string
  /** What was left out of its build: with any, `objects` are for findings only and nothing of it may be applied. */
  readonly holes?: readonly string[]
  /** Repositories that its content names and that it may lead to, where it could not be rendered (see isNamed). */
  readonly hides: readonly string[]
  /** Fields of the Kustomization that the worker does not honour yet and therefore refuses to apply: `spec.wait`, ... */
  readonly refused: readonly string[]
}

/** Evaluation of a revision set: the verdict, and each node as it may be applied. */
export interface Evaluation {
  readonly verdict: Verdict
  readonly nodes: readonly EvaluatedNode[]
}

/** What a verdict is a part by, and what is new outside of it. */
interface FilteredBy {
  readonly clusters: readonly string[]
  readonly tenants: readonly string[]
  readonly outside: { readonly violations: number; readonly errors: number }
}

/** A cluster of a verdict, and how it is known that it starts at `path`. */
export type VerdictCluster = Pick<Cluster, 'name' | 'path' | 'how'>

/** Of what a worker does not apply as it was evaluated: what is known once the values of the cluster are read. */
export const UNKNOWN_VALUES = 'values that only the cluster has'

/** What is known once the files are opened with a key of the cluster. */
export const SEALED_FILES = 'Secrets that are generated from encrypted files'

/** What is known once the patches are opened with a key of the cluster: until then, what they change is not. */
export const SEALED_PATCHES = 'encrypted patches'

/** What is known once the objects are decrypted with a key of the cluster: more than the values of a Secret or ConfigMap. */
export const SEALED_FIELDS = 'SOPS encryption outside of the data of a Secret or ConfigMap'
