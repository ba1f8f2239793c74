import type { ErrorCode } from '../../base/errors.ts'
import { asMessage, type Message, type MessagePart, message, plainText, untyped } from '../../base/message.ts'
import type { Origin } from '../../base/origin.ts'
import type { FleetIndex } from '../../fleet/facts/fleet-index.ts'
import { kindOfId, type Rendered } from '../../fleet/facts/object-table.ts'
import type { EvaluatedRepository } from '../../fleet/facts/repositories.ts'
import { whoOf } from '../../fleet/facts/shown.ts'
import type { Cluster, FleetNode } from '../../fleet/model/fleet.ts'
import type { FleetConfig, Profile } from '../../fleet/model/fleet-config.ts'
import { at, type Node, type Path, stringAt } from '../../kube/node.ts'
import { idOf, type KubeObject, type ObjectId } from '../../kube/object.ts'
import type { Edit, FindingPolicy, Severity } from './finding.ts'
import { everyPath } from './object-values.ts'

/** `error`: the rule cannot decide; such a finding is an error of its node with the rule's id as its code. */
export type FindingLevel = 'violation' | 'warning' | 'error'

/** What rules may query: the fleet by narrow questions, never a repository, a cluster or a clock. */
export interface RuleContext {
  readonly index: FleetIndex
  /** The fleet before the change, if there is one to compare with. */
  readonly before?: FleetIndex
  readonly config: FleetConfig
}

/** A rule's finding: this value of this object violates it. */
export interface Violation {
  /** The node that must not be applied because of it. */
  readonly node: FleetNode
  /** The node that rendered the object, if that is another one. */
  readonly renderedBy?: FleetNode
  readonly object: KubeObject
  readonly path: Path
  /** Where to point, if that is not the field of the object. */
  readonly origin?: Origin
  /** The line is of the base: the change removes it. */
  readonly isBefore?: true
  /** The offending value, for the identity of the violation. Never a secret. */
  readonly value: string
  readonly message: Message
  readonly fix: Message
  /** Of an error: its code, where that is not the id of the rule. */
  readonly code?: ErrorCode
  /** The value at `path` does not have the form that the API server requires. */
  readonly isMalformed?: true
  /** The severity of this finding, where it is not that of the rule. */
  readonly level?: FindingLevel
  readonly severity?: Severity
  /** Like that of the rule, for this finding alone. */
  readonly profile?: Profile
  /** The automatic fix at `path`, only where it is certain. */
  readonly edit?: Edit
  /** Values that the field at `path` may have instead, if there is one such list: the fix names them. */
  readonly allowed?: readonly string[]
  /** The cluster's answer, where it is certain and not in the message. */
  readonly clusterAnswer?: string
  /** Identifies the cause, where that is not the line at `origin`: findings with one cause are shown as one. */
  readonly cause?: string
  /** The `cause`, or one of `leads`, of each finding that it may follow from: one fix resolves both. */
  readonly follows?: readonly string[]
  readonly leads?: readonly string[]
  /** It holds only while the cluster does not have the object yet, which a state alone does not show. */
  readonly isOfNew?: true
  /** The admission policy that denies the object or was not evaluated for it. */
  readonly policy?: FindingPolicy
}

/** What a finding says besides the value that it is about. */
export type Wording = Omit<Violation, 'node' | 'renderedBy' | 'object' | 'path' | 'value'>

/** An object as a rule sees it: what it is, and who would apply it. */
export class Subject implements Rendered {
  readonly object: KubeObject
  readonly node: FleetNode
  readonly id: ObjectId
  /** `<group>/<Kind>`, as the table of scopes names kinds: `/Secret`, `apps/Deployment`. */
  readonly kind: string
  readonly #renderedBy: FleetNode | undefined

  constructor({ node, object }: Rendered, renderedBy?: FleetNode) {
    this.object = object
    this.node = node
    this.id = idOf(object)
    this.kind = kindOfId(this.id)
    this.#renderedBy = renderedBy
  }

  /** The Kustomization of a node. */
  static ofNode(node: FleetNode, renderedBy?: FleetNode): Subject {
    return new Subject({ node, object: node.kustomization }, renderedBy)
  }

  /** Its name in messages. */
  get who(): MessagePart {
    return whoOf(this.object)
  }

  /** The same object at the node that it is itself, where it is one. */
  asNode(index: FleetIndex): Subject {
    const { node, object } = this
    return new Subject({ node: index.nodeOf(node.cluster, object) ?? node, object }, node)
  }

  at(path: Path): Node | undefined {
    return at(this.object.root, path)
  }

  /** The text at a path; undefined where there is none. */
  text(path: Path): string | undefined {
    return stringAt(this.object.root, path)
  }

  /** The existing paths that a pattern matches; `*` is each item of a list. */
  items(pattern: Path): Path[] {
    return everyPath(this.object.root, pattern)
  }

  /** The finding that the object's value at a path violates the rule. */
  violation(path: Path, value: string, wording: Wording): Violation {
    const by = this.#renderedBy ? { renderedBy: this.#renderedBy } : {}
    return { node: this.node, ...by, object: this.object, path, value, ...wording }
  }
}

/** An object that would be applied for a tenant. */
export interface TenantSubject extends Subject {
  readonly node: FleetNode & { readonly tenant: string }
}

/** The texts of a rule; docs/rules.md is generated from them. */
export interface RuleText {
  /** Stable: baselines list it. */
  readonly id: string
  readonly severity: Severity
  /** Default: violation. */
  readonly level?: FindingLevel
  /** `restricted`: only a warning where the fleet or the tenant has the profile `baseline`. Default: `baseline`. */
  readonly profile?: Profile
  /** What the rule requires. */
  readonly title: string
  /** What goes wrong without the rule. */
  readonly why: string
  /** The CVE, advisory or document that it comes from. */
  readonly source?: string
  /** The correct way to write it. */
  readonly docs: string
}

/**
 * One rule about what would be applied. Every check is pure and keeps no state between calls; a rule whose finding the
 * renderer raises has none. A check that compares with `before` finds nothing if neither its input nor what it queries
 * has changed.
 */
export interface Rule extends RuleText {
  /** Silent at a field that another rule reports as malformed with the same weight. */
  readonly givesWay?: true
  /** The kinds of its check of objects, as `<group>/<Kind>`. */
  readonly kinds?: readonly string[] | 'every'
  checkObject?(subject: Subject, context: RuleContext): Iterable<Violation>
  /** Not called for what the platform applies itself, which is most of a fleet. */
  checkTenantObject?(subject: TenantSubject, context: RuleContext): Iterable<Violation>
  checkNode?(node: FleetNode, context: RuleContext): Iterable<Violation>
  /** A node of `before` that the fleet no longer has. */
  checkRemoved?(node: FleetNode, context: RuleContext): Iterable<Violation>
  checkCluster?(cluster: Cluster, context: RuleContext): Iterable<Violation>
  /** Files of a repository, whatever is rendered from them. */
  checkRepository?(repository: EvaluatedRepository, context: RuleContext): Iterable<Violation>
}

/** Enabled rules, indexed by what they check. */
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

  /** The rules that check objects of a kind which are applied for a tenant, or by the platform for itself. */
  ofKind(kind: string, isTenants: boolean): readonly Rule[] {
    const { every, kinds } = isTenants ? this.#ofTenants : this.#ofEverybody
    return kinds.get(kind) ?? every
  }
}

interface RulesByKind {
  readonly every: readonly Rule[]
  readonly kinds: ReadonlyMap<string, readonly Rule[]>
}

/** Rules that give way run last. */
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

/** Too much to evaluate: an evaluation error of the node (`render-limits`), never "nothing found". */
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

/** The API server's words in a message. They quote text of an author: odd characters are shown as their numbers. */
export function serverWords(text: string): Message {
  const plain = text.replace(/[^\x20-\x7e\n]/gu, one => `\\u{${one.codePointAt(0)!.toString(16)}}`)
  return untyped(plain.slice(0, MAX_WORDS))
}

/** How the API server answers the account of a node to an object, as the end of a message; '' where it allows it. */
export function serverAnswer(index: FleetIndex, { node, object }: Rendered): Message {
  const words = index.applyRefusal(node.key, object)
  return words === undefined ? message`` : message` API server: ${serverWords(words)}.`
}
