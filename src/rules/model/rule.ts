import type { ErrorCode } from '../../base/errors.ts'
import { asMessage, type Message, message, plainText, untyped } from '../../base/message.ts'
import type { Origin } from '../../base/origin.ts'
import type { FleetIndex } from '../../fleet/facts/fleet-index.ts'
import type { EvaluatedRepository } from '../../fleet/facts/repositories.ts'
import type { Subject, TenantSubject } from '../../fleet/facts/subject.ts'
import type { Cluster, FleetNode } from '../../fleet/model/fleet.ts'
import type { FleetConfig, Profile } from '../../fleet/model/fleet-config.ts'
import type { Path } from '../../kube/node.ts'
import type { KubeObject } from '../../kube/object.ts'
import type { Edit, FindingPolicy, Severity } from './finding.ts'

/** `error`: what cannot be decided; such a finding is an error of its node with the rule's id as its code. */
export type FindingLevel = 'violation' | 'warning' | 'error'

/** What rules may ask: the fleet by narrow questions, never a repository, a cluster or a clock. */
export interface RuleContext {
  readonly index: FleetIndex
  /** The fleet before the change, where there is one to compare with. */
  readonly before?: FleetIndex
  readonly config: FleetConfig
}

/** A rule's answer: this value of this object breaks it. */
export interface Violation {
  /** The node that must not be applied because of it. */
  readonly node: FleetNode
  /** Where the object was rendered, if that is another node. */
  readonly renderedBy?: FleetNode
  readonly object: KubeObject
  readonly path: Path
  /** Where to point, if that is not the field of the object. */
  readonly origin?: Origin
  /** The line is of the base: the change takes it away. */
  readonly isBefore?: true
  /** The offending value, for the identity of the violation. Never a secret. */
  readonly value: string
  readonly message: Message
  readonly fix: Message
  /** Of an error: its code, where that is not the id of the rule. */
  readonly code?: ErrorCode
  /** The value at `path` has not the form that the API server asks for. */
  readonly isMalformed?: true
  /** The severity of this finding, where it is not that of the rule. */
  readonly level?: FindingLevel
  readonly severity?: Severity
  /** As that of the rule, for this one alone. */
  readonly profile?: Profile
  /** The automatic fix at `path`, only where it is certain. */
  readonly edit?: Edit
  /** Values that the field at `path` may have instead, where there is one such list: the fix names them. */
  readonly allowed?: readonly string[]
  /** What the cluster would answer, where that is known for sure and the message does not say it. */
  readonly clusterAnswer?: string
  /** What identifies its cause, where that is not the line at `origin`: those with one cause are shown as one finding. */
  readonly cause?: string
  /** The `cause` of the one that it follows from: what mends that one mends it, too. */
  readonly follows?: string
  /** The admission policy that denies the object or was not evaluated for it. */
  readonly policy?: FindingPolicy
}

/** What a rule says about itself; docs/rules.md is made of it. */
export interface RuleText {
  /** Final: people write it into baselines. */
  readonly id: string
  readonly severity: Severity
  /** Default: violation. */
  readonly level?: FindingLevel
  /** `restricted`: only a warning where the fleet or the tenant has the profile `baseline`. Default: `baseline`. */
  readonly profile?: Profile
  /** What it asks. */
  readonly title: string
  /** What goes wrong without the rule. */
  readonly why: string
  /** The CVE, advisory or document that it comes from. */
  readonly source?: string
  /** How to write it instead. */
  readonly docs: string
}

/**
 * One question about what would be applied. Every check is pure and keeps nothing between calls; a rule has those that it
 * needs, and none where the renderer raises it. A check that compares with `before` finds nothing where neither what it is
 * given nor what it asks has changed.
 */
export interface Rule extends RuleText {
  /** Silent at a field that another rule calls malformed, and at which it counts as much. */
  readonly givesWay?: true
  /** The kinds of the one check of objects that it has, as `<group>/<Kind>`. */
  readonly kinds?: readonly string[] | 'every'
  checkObject?(subject: Subject, context: RuleContext): Iterable<Violation>
  /** What the platform applies itself is not asked about: that is most of a fleet. */
  checkTenantObject?(subject: TenantSubject, context: RuleContext): Iterable<Violation>
  checkNode?(node: FleetNode, context: RuleContext): Iterable<Violation>
  /** A node that `before` has and the fleet has not any more. */
  checkRemoved?(node: FleetNode, context: RuleContext): Iterable<Violation>
  checkCluster?(cluster: Cluster, context: RuleContext): Iterable<Violation>
  /** Files of a repository, whatever is rendered from them. */
  checkRepository?(repository: EvaluatedRepository, context: RuleContext): Iterable<Violation>
}

/** Rules that are switched on, found by what they are asked about. */
export class RuleSet {
  readonly ofNodes: readonly Rule[]
  readonly ofRemoved: readonly Rule[]
  readonly ofClusters: readonly Rule[]
  readonly ofRepositories: readonly Rule[]
  readonly #rules: ReadonlyMap<string, Rule>
  readonly #ofEverybody: RulesByKind
  readonly #ofTenants: RulesByKind

  constructor(rules: readonly Rule[], disabled: readonly string[] = []) {
    const off = new Set(disabled)
    const on = rules.filter(rule => !off.has(rule.id))
    this.#rules = new Map(on.map(rule => [rule.id, rule]))
    this.ofNodes = on.filter(rule => rule.checkNode)
    this.ofRemoved = on.filter(rule => rule.checkRemoved)
    this.ofClusters = on.filter(rule => rule.checkCluster)
    this.ofRepositories = on.filter(rule => rule.checkRepository)
    this.#ofEverybody = byKind(on.filter(rule => rule.checkObject))
    this.#ofTenants = byKind(on.filter(rule => rule.checkObject ?? rule.checkTenantObject))
  }

  named(id: string): Rule | undefined {
    return this.#rules.get(id)
  }

  /** The rules that ask about objects of a kind which are applied for a tenant, or by the platform for itself. */
  ofKind(kind: string, isTenants: boolean): readonly Rule[] {
    const { every, kinds } = isTenants ? this.#ofTenants : this.#ofEverybody
    return kinds.get(kind) ?? every
  }
}

interface RulesByKind {
  readonly every: readonly Rule[]
  readonly kinds: ReadonlyMap<string, readonly Rule[]>
}

/** Rules that give way are asked last. */
function byKind(rules: readonly Rule[]): RulesByKind {
  const last = (one: Rule, other: Rule) => Number(one.givesWay ?? false) - Number(other.givesWay ?? false)
  const every = rules.filter(rule => rule.kinds === 'every')
  const kinds = new Map<string, Rule[]>()
  for (const rule of rules) {
    for (const kind of Array.isArray(rule.kinds) ? rule.kinds : []) {
      const list = kinds.get(kind) ?? [...every]
      kinds.set(kind, list)
      list.push(rule)
    }
  }
  for (const list of [every, ...kinds.values()]) list.sort(last)
  return { every, kinds }
}

/** What is too much to look at: an evaluation error of the node (`render-limits`), never "nothing found". */
export function overLimit(node: FleetNode, what: string | Message, fix: string | Message, origin?: Origin): Violation {
  return {
    node,
    object: node.kustomization,
    path: ['spec', 'path'],
    ...(origin ? { origin } : {}),
    value: plainText(what),
    message: asMessage(what),
    fix: asMessage(fix),
    level: 'error',
    code: 'render-limits',
  }
}

const MAX_WORDS = 1_200

/** The API server's words in a message. They quote what an author wrote: odd characters are shown as their numbers. */
export function serverWords(text: string): Message {
  const plain = text.replace(/[^\x20-\x7e\n]/gu, one => `\\u{${one.codePointAt(0)!.toString(16)}}`)
  return untyped(plain.slice(0, MAX_WORDS))
}

/** What the API server answers the account of a node to an object, as the end of a message; '' where it allows it. */
export function serverAnswer(index: FleetIndex, node: FleetNode, object: KubeObject): Message {
  const words = index.applyRefusal(node.key, object)
  return words === undefined ? message`` : message` API server: ${serverWords(words)}.`
}
