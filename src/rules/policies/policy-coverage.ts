import type { PolicyRuleName } from '../../admission/admission/admission-request.ts'
import { policyEngines } from '../../admission/policy-engines.ts'
import { codeWord, message, part } from '../../base/message.ts'
import type { SourceLine } from '../../base/origin.ts'
import { FleetIndex } from '../../fleet/facts/fleet-index.ts'
import { kindOf } from '../../fleet/facts/object-table.ts'
import { objectPart, quoted } from '../../fleet/facts/shown.ts'
import type { Fleet } from '../../fleet/model/fleet.ts'
import { at, canonical, entriesOf, itemsOf, stringAt } from '../../kube/node.ts'
import { idOf, type KubeObject } from '../../kube/object.ts'
import { type Rule, type RuleContext, Subject } from '../model/rule.ts'
import { admissionOf, findingPolicy } from './admission.ts'

/** Policies that could not be evaluated are listed, so that silence is not taken for approval. */
export const policyNotEvaluated: Rule = {
  id: 'policy-not-evaluated',
  severity: 'low',
  level: 'warning',
  title: 'Policy that cannot be evaluated for an object',
  why: 'The result of the policy depends on what only the cluster knows, or a part of it is not supported. The object may be refused or changed after the merge.',
  source: 'https://kubernetes.io/docs/reference/access-authn-authz/validating-admission-policy/',
  docs: 'Read the reason. Not evaluated at all: MutatingAdmissionPolicies, `mutate` and `generate` of Kyverno policies, the signatures that `verifyImages` asks for (which images it covers is, by `image-unverified`), the policies of `policies.kyverno.io` other than ValidatingPolicies, Gatekeeper, Kubewarden, ResourcePools and quotas of Capsule, `rules` and quota annotations of Capsule Tenants, and what Capsule gives to promoted accounts. The rule says so when the platform adds or changes one of them. Not evaluated in CEL of Kubernetes: `ip`, `cidr`, `format` and `semver`. Evaluated in CEL of Kyverno: images, users and what the fleet shows of `resource`. Not evaluated in JMESPath: `random`, times, X.509, versions, and arithmetic of quantities other than their ratio. Exclusions and versions before 1.25 of `podSecurity` are not evaluated. Not evaluated either is what `http`, `resource`, `globalContext` and `image.GetMetadata` read from outside of the fleet. Otherwise render the Namespace, the role or the object that is missing, or watch the first apply of the object.',
  kinds: 'every',
  *checkObject(subject, context) {
    const parts = subject.node.tenant === undefined && isChanged(subject, context) ? partsNotEvaluated(subject) : []
    for (const value of parts) {
      yield subject.violation([], value, {
        message: message`${subject.who}: Bailiwick does not evaluate ${value === WHOLE_KIND ? message`policies of this kind` : message`${quoted('field', value)} in it`}. What it refuses or changes is not known before the merge. Evaluated: ValidatingAdmissionPolicies, Kyverno's ValidatingPolicies, ${codeWord('validate')} of its ClusterPolicies and Policies, and the other fields of Capsule's Tenants.`,
        fix: message`Check on the cluster what the policy does to the objects that it selects.`,
      })
    }
    const seen = new Set<string>()
    const admission = admissionOf(subject, context)
    for (const one of admission?.notEvaluated ?? []) {
      const { policy, rule, why, origin } = one
      const value = `${policy.kind} ${policy.namespace}/${policy.name} ${rule} ${why}`
      if (seen.has(value)) continue
      seen.add(value)
      const by = objectPart(policy.kind, policy.namespace, policy.name)
      yield subject.violation([], value, {
        message: message`${subject.who}: ${by} was not evaluated: ${quoted('value', why)}. The policy is at ${part('path', `${origin.file}:${origin.line}`)}.`,
        fix: message`Check on the cluster whether ${by} allows the object.`,
        policy: findingPolicy(one, 'unknown', admission?.isUnchanged === true),
      })
    }
  },
}

/** For new or changed policies of the platform; docs/rules.md covers existing ones. A tenant's own apply to its own objects. */
function isChanged({ object, id, kind, node }: Subject, { before }: RuleContext): boolean {
  if (!before) return false
  const old = before.versionsOf(node.cluster, kind, id.namespace, id.name)
  return !old.some(version => canonical(version.object.root) === canonical(object.root))
}

/** Kinds of policies that no engine here evaluates, by `<group>/<Kind>`. */
const KINDS_NOT_EVALUATED: ReadonlySet<string> = new Set([
  'admissionregistration.k8s.io/MutatingAdmissionPolicy',
  'policies.kyverno.io/DeletingPolicy',
  'policies.kyverno.io/NamespacedDeletingPolicy',
  'policies.kyverno.io/MutatingPolicy',
  'policies.kyverno.io/NamespacedMutatingPolicy',
  'policies.kyverno.io/GeneratingPolicy',
  'policies.kyverno.io/NamespacedGeneratingPolicy',
  'policies.kyverno.io/ImageValidatingPolicy',
  'policies.kyverno.io/NamespacedImageValidatingPolicy',
  'templates.gatekeeper.sh/ConstraintTemplate',
  'mutations.gatekeeper.sh/Assign',
  'mutations.gatekeeper.sh/AssignMetadata',
  'mutations.gatekeeper.sh/AssignImage',
  'mutations.gatekeeper.sh/ModifySet',
  'policies.kubewarden.io/ClusterAdmissionPolicy',
  'policies.kubewarden.io/ClusterAdmissionPolicyGroup',
  'policies.kubewarden.io/AdmissionPolicy',
  'policies.kubewarden.io/AdmissionPolicyGroup',
  'capsule.clastix.io/ResourcePool',
  'capsule.clastix.io/CustomQuota',
  'capsule.clastix.io/GlobalCustomQuota',
  'capsule.clastix.io/GlobalResourceQuota',
])
const WHOLE_KIND = 'kind'
const KYVERNO = new Set(['kyverno.io/ClusterPolicy', 'kyverno.io/Policy'])
const PARTS = ['mutate', 'generate', 'verifyImages']
const CAPSULE_TENANT = 'capsule.clastix.io/Tenant'
/** Parts of the rules of a Capsule Tenant (0.13 and later). */
const CAPSULE_PARTS = ['enforce', 'quota']
/** Quotas of custom kinds, as annotations of a Capsule Tenant. */
const CAPSULE_QUOTA = /^(quota|used)\.resources\.capsule\.clastix\.io\//

/** An account that Capsule makes an owner of its Tenant, or that a rule of the Tenant gives roles. */
const CAPSULE_PROMOTED = /^(owner\.)?projectcapsule\.dev\/promote$/

/** What is never evaluated of a policy, whatever the object: WHOLE_KIND, or parts of its rules. */
export function partsNotEvaluated({ kind, object }: Pick<Subject, 'kind' | 'object'>): readonly string[] {
  if (KINDS_NOT_EVALUATED.has(kind)) return [WHOLE_KIND]
  const marks = (part: string, pattern: RegExp) => {
    const map = at(object.root, ['metadata', part])
    return entriesOf(map).flatMap(([key]) => (pattern.test(key) ? [key] : []))
  }
  if (kind === '/ServiceAccount') return marks('labels', CAPSULE_PROMOTED)
  const isCapsule = kind === CAPSULE_TENANT
  if (!KYVERNO.has(kind) && !isCapsule) return []
  const items = itemsOf(at(object.root, ['spec', 'rules']))
  const parts = isCapsule ? CAPSULE_PARTS : PARTS
  return [
    ...parts.filter(part => items.some(rule => rule.type === 'map' && rule.fields.has(part))),
    ...(isCapsule ? marks('annotations', CAPSULE_QUOTA) : []),
  ]
}

/** A policy on a cluster and its results for the fleet's objects. */
export interface CoveredPolicy {
  readonly cluster: string
  readonly kind: string
  readonly namespace: string
  readonly name: string
  readonly origin: SourceLine
  /** The parts of it that are never evaluated: `kind`, or parts of its rules. */
  readonly notEvaluated: readonly string[]
  /** Its rules or bindings that apply to at least one object, sorted. */
  readonly rules: readonly RuleCoverage[]
  /** The platform's exceptions that name it. */
  readonly exceptions: readonly { readonly name: string; readonly origin: SourceLine }[]
}

/** The number of fleet objects by the result of a rule. */
export interface RuleCoverage {
  readonly rule: string
  readonly passed: number
  readonly denied: number
  readonly warned: number
  readonly audited: number
  readonly notEvaluated: number
  /** The first reason why some objects are not evaluated. */
  readonly why: string
}

type Counts = { -readonly [K in keyof RuleCoverage]: RuleCoverage[K] }

/**
 * Every policy that the platform renders on the given clusters, with its results for each object as if it were created.
 * `tenants`: only their objects count.
 */
export function policyCoverage(
  fleet: Fleet,
  clusters: readonly string[],
  tenants?: ReadonlySet<string>,
): CoveredPolicy[] {
  const index = new FleetIndex(fleet)
  const policies = [...policyEngines.flatMap(({ kinds }) => kinds), ...KINDS_NOT_EVALUATED]
  const counted = new Map<string, Map<string, Counts>>()
  const add = (cluster: string, { policy, rule }: PolicyRuleName, field: NumberField, why = '') => {
    const key = JSON.stringify([cluster, policy.kind, policy.namespace, policy.name])
    const rules = counted.get(key) ?? new Map<string, Counts>()
    counted.set(key, rules)
    const counts = rules.get(rule) ?? { rule, passed: 0, denied: 0, warned: 0, audited: 0, notEvaluated: 0, why: '' }
    rules.set(rule, counts)
    counts[field]++
    if (counts.why === '') counts.why = why
  }
  for (const node of fleet.nodes) {
    const { cluster } = node
    if (!clusters.includes(cluster) || (tenants && !tenants.has(node.tenant ?? ''))) continue
    for (const object of node.objects) {
      const answer = admissionOf(new Subject({ node, object }), { index, config: fleet.config }, one =>
        add(cluster, one, 'passed'),
      )
      for (const one of distinct(answer?.findings ?? [])) add(cluster, one, FIELDS[one.action])
      for (const one of distinct(answer?.notEvaluated ?? [])) add(cluster, one, 'notEvaluated', one.why)
    }
  }
  return clusters.flatMap(cluster => {
    const exceptions = policyEngines
      .flatMap(({ companions }) => companions)
      .flatMap(kind => index.platformAnywhere(cluster, kind))
    return policies
      .flatMap(kind => index.platformAnywhere(cluster, kind))
      .map(({ object }): CoveredPolicy => {
        const { kind, namespace, name } = idOf(object)
        const rules = counted.get(JSON.stringify([cluster, kind, namespace, name]))
        return {
          ...{ cluster, kind, namespace, name },
          origin: lineOf(object),
          notEvaluated: partsNotEvaluated({ kind: kindOf(object), object }).map(part =>
            part === WHOLE_KIND ? 'kind' : part,
          ),
          rules: [...(rules?.values() ?? [])].sort((a, b) => (a.rule < b.rule ? -1 : 1)),
          exceptions: exceptions.flatMap(({ object: one }) =>
            isAbout(one, namespace, name) ? [{ name: nameOf(one), origin: lineOf(one) }] : [],
          ),
        }
      })
  })
}

type NumberField = 'passed' | 'denied' | 'warned' | 'audited' | 'notEvaluated'
const FIELDS = { deny: 'denied', warn: 'warned', audit: 'audited' } as const

/** A rule counts once per object, even if several of its checks apply. */
function distinct<T extends PolicyRuleName>(list: readonly T[]): Iterable<T> {
  return new Map(
    list.map(one => [JSON.stringify([one.policy.kind, one.policy.namespace, one.policy.name, one.rule]), one]),
  ).values()
}

function isAbout({ root }: KubeObject, namespace: string, name: string): boolean {
  const full = namespace === '' ? name : `${namespace}/${name}`
  return [
    ['exceptions', 'policyName'],
    ['policyRefs', 'name'],
  ].some(([list, field]) => {
    const items = at(root, ['spec', list!])
    return items?.type === 'list' && items.items.some(item => [name, full].includes(stringAt(item, [field!]) ?? ''))
  })
}

function nameOf(object: KubeObject): string {
  const { namespace, name } = idOf(object)
  return `${namespace}/${name}`
}

function lineOf({ root }: KubeObject): SourceLine {
  const { repository, file, line } = root.origin
  return { repository, file, line }
}
