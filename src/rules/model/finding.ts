import type { Message } from '../../base/message.ts'
import type { Origin, SourceLine, Step } from '../../base/origin.ts'
import type { Cluster, NotReached, NotSeen, SealedFile, Tenant, ValueNeed } from '../../fleet/model/fleet.ts'
import type { GitRef } from '../../fleet/model/source-ref.ts'
import type { ApplySettings, SettingsProblem } from '../../flux/apply-settings.ts'
import type { FieldLines } from '../../kube/field-lines.ts'
import type { ObjectId } from '../../kube/object.ts'
import type { ServiceKey } from '../../kube/sops.ts'

export type Severity = 'critical' | 'high' | 'medium' | 'low'

/** The most severe first. */
export const SEVERITIES: readonly Severity[] = ['critical', 'high', 'medium', 'low']

/** The automatic fix of a field: set another value, remove it, or add it. */
export type Edit =
  | { readonly set: string }
  | { readonly remove: true }
  | { readonly add: string }
  | { readonly rename: string }

/** One violation or warning, as the command line prints it and the check run shows it (plain JSON). */
export interface Finding {
  readonly rule: string
  /** Only violations block. */
  readonly level: 'violation' | 'warning'
  /** It would be a violation, but its tenant or cluster is in report mode. */
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
  /** `origin` is a line of the base that the change removes. */
  readonly isBefore?: true
  readonly message: string
  readonly fix: string
  /** Message and fix with the types of their values, where they have any: not in the JSON of the command line. */
  readonly typed?: Message
  readonly typedFix?: Message
  /** Key of the node (`<cluster>/<namespace>/<name>`) that would apply the object. */
  readonly node: string
  /** Identity of the violation across commits: rule, cluster, object, field, value; never file or line. */
  readonly fingerprint: string
  /** What wrote the offending value: a rule's findings with the same cause are shown as one. Absent without a line. */
  readonly cause?: string
  /** The cause is not at `origin`: findings at other lines share it. */
  readonly isShared?: true
  /** Causes of findings: it follows from the first that there is. */
  readonly follows?: readonly string[]
  /** What other findings follow from besides `cause`: an object that is gone or refused, a right that is missing. */
  readonly leads?: readonly string[]
  /** If a rule left something out: the digest of all it hides. The finding is existing only while this is the same. */
  readonly hides?: string
  /** With `hides`: digest of where, as which account and in which form it is applied; absent where it is not. */
  readonly appliedAs?: string
  /** The certain fix, at `field`. */
  readonly edit?: Edit
  /** Values that `field` may have instead. */
  readonly allowed?: readonly string[]
  /** The cluster's answer, where it is certain and not in the message. */
  readonly clusterAnswer?: string
  /** It holds only while the cluster does not have the object yet. */
  readonly isOfNew?: true
  /** Set if the finding is waived. */
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

/** What could not be evaluated of a node: all of it, or a part. One for each node with that cause. */
export interface NodeFailure {
  /** A code of src/base/errors.ts, or the id of the rule that cannot decide. */
  readonly code: string
  /** Standing: the base has the same cause, which hides the same there; or the baseline file accepts exactly that. */
  readonly state: 'new' | 'standing'
  readonly message: string
  readonly fix: string
  /** See Finding. */
  readonly typed?: Message
  readonly typedFix?: Message
  readonly origin: Omit<Origin, 'via'>
  readonly cluster: string
  readonly tenant: string
  readonly node: string
  /** Identity of the cause: code, repository, file, field and value; never the line, the node, the cluster or the tenant. */
  readonly fingerprint: string
  /**
   * Digest of what it keeps from being evaluated: another error with the same cause may hide anything. Absent: an error
   * of the base does not make it existing, and no baseline accepts it.
   */
  readonly hides?: string
  /** For a tenant, with `hides`: see Finding. */
  readonly appliedAs?: string
  /** Flux refuses it too, so the node is not applied until it is fixed. */
  readonly blocksApply?: true
  /** Another error of its node may be the cause: people see it below that one. */
  readonly follows?: true
  /** For an existing error: the commit since which its node does not build completely. */
  readonly since?: string
}

/** An account that deploys for a tenant what the tenant's own source contains. */
export interface SourceUse {
  readonly tenant: string
  /** Normalized, as in the fleet's file. */
  readonly url: string
  readonly ref: GitRef
  readonly account: string
}

/** An approval by a fleet admin that the change needs. */
export interface RequiredApproval {
  /** `gate-config-change`, `gate-workflow-change`, or the rule about what is not visible. */
  readonly rule: string
  readonly message: string
  /** The file that requires it. */
  readonly path: string
  /** Shared by several files: approvals of a rule with the same cause are shown as one. */
  readonly because?: string
  /** For a tenant's own source: what the fleet's file can list instead. */
  readonly source?: SourceUse
}

/** A file of the change, and what it affects. */
export interface ChangedFile {
  readonly path: string
  /** `unread`: no node reads it. `unseen`: something that is not visible may apply it, so it was not evaluated. */
  readonly state: 'rendered' | 'unread' | 'unseen'
  /** The first Kustomizations that render it, by key; for `unseen`, what may apply it, as sentences. */
  readonly by: readonly string[]
  /** How many there are. */
  readonly readers: number
}

/** How much of a fleet was evaluated. */
export interface Evaluated {
  readonly clusters: number
  readonly tenants: number
  /** Flux Kustomizations that a cluster reaches and whose source is visible, and the number of all. */
  readonly kustomizations: { readonly reached: number; readonly present: number }
  readonly objects: number
  /** HelmReleases among them: charts are not rendered, so what they create is not evaluated. */
  readonly releases: number
  /** Distinct causes for which something was left out: holes, and nodes that could not be built. */
  readonly holes: number
}

/** The verdict on a revision set. The first part is the contract of the command line (`check -o json`). */
export interface Verdict {
  readonly result: 'pass' | 'fail' | 'error'
  /** The first line of every result: what was found, and how much was evaluated. */
  readonly summary: string
  readonly clusters: readonly VerdictCluster[]
  readonly tenants: readonly Tenant[]
  readonly violations: readonly Finding[]
  readonly warnings: readonly Finding[]
  readonly errors: readonly NodeFailure[]
  readonly notSeen: readonly NotSeen[]
  /** Flux Kustomizations of the fleet's repository that no cluster builds. */
  readonly notReached: readonly NotReached[]
  /** Kinds of objects that no rule evaluates, one for each kind of a node: listed, never blocking. */
  readonly notEvaluated: readonly Finding[]
  /** What the change needs: the command line lists them, the App asks a fleet admin. Empty without a base. */
  readonly requiredApprovals: readonly RequiredApproval[]
  /** Every file that the change adds, edits or removes, sorted by path; absent without a base. */
  readonly changedFiles?: readonly ChangedFile[]
  /** Address of their repository: only its readers may see names of its files. */
  readonly changedIn?: string
  readonly evaluated: Evaluated
  /** For a part of a repository: its Kustomizations below one that Flux does not apply because of the fleet's own error. */
  readonly belowErrors?: number
  /** The only requested clusters and tenants; an empty list means all. */
  readonly filter?: FilteredBy
  /** Hash of everything that the verdict depends on. */
  readonly revisionSet: string
}

/** What decrypts the encrypted objects of a node. */
export interface Decryption {
  /** A Secret with keys, in the node's namespace; absent: only keys of services decrypt them. */
  readonly secret?: string
  /** For each object that no key of a Secret decrypts: keys of services, of which the operator must list one. */
  readonly services?: readonly (readonly Pick<ServiceKey, 'service' | 'key'>[])[]
  /** Text of each encrypted object as it is built, with SOPS's metadata. With any, nothing is applied. */
  readonly seals: readonly string[]
  /** Patches, and files that Secrets are generated from: decrypted, the node is evaluated again before it is applied. */
  readonly files?: readonly SealedFile[]
}

/** A node with everything the worker needs to apply it, as plain JSON: exactly these objects were evaluated. */
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
    /** Of an artifact in a registry: the revision that it was built from, by its own metadata. */
    readonly originRevision?: string
    /** Nothing proves that Flux fetches what was evaluated. */
    readonly assumed?: true
    /** JSON text of `spec.verify`: nothing is applied before source-controller accepts the signature. */
    readonly verify?: string
    /** Only a tenant's declaration leads there: it counts for that tenant, not in the repository's own verdict. */
    readonly lent?: true
    /** Sources whose content is part of it; with `verify`, `id` names the one to query on the cluster. */
    readonly includes?: readonly {
      readonly url: string
      readonly commit: string
      readonly lent?: true
      readonly id?: string
      readonly verify?: string
    }[]
  }
  /** Where the charts of its releases come from; git content that it deploys without rendering. */
  readonly charts?: readonly { readonly url: string; readonly commit: string; readonly lent?: true }[]
  /** Fewer people can read its content than the place where results are published, so it may not be shown there. */
  readonly narrower?: true
  readonly dependsOn: readonly string[]
  readonly suspend: boolean
  readonly prune: boolean
  /** How its Kustomization is to be applied. */
  readonly settings: ApplySettings
  /** Settings that cannot be read: with any, nothing is applied. */
  readonly problems?: readonly SettingsProblem[]
  /** How its encrypted objects are decrypted; absent if none is encrypted. */
  readonly decryption?: Decryption
  /** Values that it substitutes from and git does not have completely: the worker reads them before it applies. */
  readonly needs?: readonly ValueNeed[]
  readonly digest: string
  /** Violations and errors of this node, whatever their state; approval reads them. */
  readonly findings: readonly Finding[]
  readonly failures: readonly NodeFailure[]
  /** Canonical JSON text of each object, in build order. */
  readonly objects: readonly string[]
  /** Where each of `objects` is written, in order; absent where they are for a report only. */
  readonly places?: readonly SourceLine[]
  /** HelmReleases among them. */
  readonly releases?: number
  /** Where the values of each of `objects` are written, in order. */
  readonly lines?: readonly FieldLines[]
  /** Where its Flux Kustomization is written. */
  readonly declared?: SourceLine
  /** The directory of its source that it builds. */
  readonly path?: string
  /** What was left out of its build: with any, `objects` are for findings only and nothing may be applied. */
  readonly holes?: readonly string[]
  /** Repositories that its content names and that it may lead to, where it could not be rendered (see isNamed). */
  readonly hides: readonly string[]
  /** Fields of the Kustomization that the worker does not support and therefore refuses to apply: `spec.wait`, ... */
  readonly refused: readonly string[]
}

/** Evaluation of a revision set: the verdict, and each node in the form in which it may be applied. */
export interface Evaluation {
  readonly verdict: Verdict
  readonly nodes: readonly EvaluatedNode[]
}

/** The filter of a verdict, and what is new outside of it. */
interface FilteredBy {
  readonly clusters: readonly string[]
  readonly tenants: readonly string[]
  readonly outside: { readonly violations: number; readonly errors: number }
}

/** A cluster of a verdict, and how its start `path` is known. */
export type VerdictCluster = Pick<Cluster, 'name' | 'path' | 'how'>

/** Why a worker does not apply what was evaluated: the result is known only with values of the cluster. */
export const UNKNOWN_VALUES = 'values that only the cluster has'

/** The result is known once the files are decrypted with a key of the cluster. */
export const SEALED_FILES = 'Secrets that are generated from encrypted files'

/** What encrypted patches change is known once they are decrypted with a key of the cluster. */
export const SEALED_PATCHES = 'encrypted patches'

/** The result is known once the objects are decrypted with a key of the cluster: not only data is encrypted. */
export const SEALED_FIELDS = 'SOPS encryption outside of the data of a Secret or ConfigMap'
