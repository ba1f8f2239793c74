import type {
  AdmissionFinding,
  AdmissionOperation,
  PolicyRuleName,
} from '../../admission/admission/admission-request.ts'
import { matchesWildcard } from '../../admission/jmespath/values.ts'
import { type Message, message, part } from '../../base/message.ts'
import type { Origin } from '../../base/origin.ts'
import { hashOf, placeText } from '../../fleet/facts/fingerprint.ts'
import { kindOf } from '../../fleet/facts/object-table.ts'
import { identityPart, objectPart, quoted } from '../../fleet/facts/shown.ts'
import { addressOf } from '../../fleet/facts/sources.ts'
import type { FleetNode } from '../../fleet/model/fleet.ts'
import { at, canonical, itemsOf, type ScalarNode, stringAt, withValueAt } from '../../kube/node.ts'
import type { KubeObject } from '../../kube/object.ts'
import type { SourceAddress } from '../../kube/source-address.ts'
import { scalarsOf } from '../model/object-values.ts'
import { type Rule, type RuleContext, Subject, type Violation } from '../model/rule.ts'
import {
  type Admission,
  admissionOf,
  answerFor,
  deletedObjects,
  deletionOf,
  findingPolicy,
  policyEdit,
  policyWords,
} from './admission.ts'

/** The answers of the cluster's own policies, before the merge and as the account that applies. */
export const policyDenied: Rule = {
  id: 'policy-denied',
  severity: 'high',
  title: 'Object that a policy of the cluster refuses',
  why: 'An admission policy that refuses one object stops the whole Kustomization, and none of its objects is applied. Without the rule this is seen only after the merge.',
  source: 'https://kubernetes.io/docs/reference/access-authn-authz/validating-admission-policy/',
  docs: 'Change the object so that the policy allows it. The message is the one of the policy. A policy that denies makes violations, one that warns or audits makes warnings. Policies are those that the platform renders: ValidatingAdmissionPolicies with their bindings, and Kyverno ClusterPolicies and Policies with `validate` by `pattern`, `anyPattern`, `deny`, `foreach`, `cel` and `podSecurity`, also for the Pods that workloads make. Other parts of Kyverno policies are listed by `policy-not-evaluated`; `source-url-allowlist` reports addresses that a policy does not allow in any spelling. An allowed address in another spelling is refused, too, because policies compare texts. They are evaluated with both sides of the change, and with the account that applies. Namespaces, parameters and RBAC come from the fleet. Defaults of the API server are filled in for workloads, Services and Secrets.',
  kinds: 'every',
  *checkObject(subject, context) {
    const admission = admissionOf(subject, context)
    if (!admission || admission.findings.length === 0) return
    const answerOf = addressAnswers(subject, context)
    for (const finding of admission.findings) {
      const answer = answerOf(finding)
      if (answer === 'address') continue
      const violation = violationOf(subject, admission, finding, context)
      yield answer === 'spelling' ? { ...violation, ...SPELLING } : violation
    }
  },
  checkNode: deletions,
  checkRemoved: deletions,
}

function* deletions(node: FleetNode, context: RuleContext): Iterable<Violation> {
  for (const object of deletedObjects(node, context)) {
    const subject = new Subject({ node, object })
    const admission = deletionOf(subject, context)
    if (!admission) return
    for (const finding of admission.findings) yield violationOf(subject, admission, finding, context)
  }
}

/** The address is allowed, but policies compare texts. */
const SPELLING = {
  fix: message`Write the address as the policy spells it. It is an allowed address in another spelling.`,
}

const VERBS: Readonly<Record<AdmissionOperation, 'create' | 'update' | 'delete'>> = {
  CREATE: 'create',
  UPDATE: 'update',
  DELETE: 'delete',
}

function violationOf(
  subject: Subject,
  { operation, isUnchanged }: Pick<Admission, 'operation' | 'isUnchanged'>,
  finding: AdmissionFinding,
  { index, before }: RuleContext,
): Violation {
  const { node, object, who } = subject
  const edited = isUnchanged && before ? policyEdit(node.cluster, finding, index, before) : undefined
  const words = policyWords(index, subject, finding)
  const { policy, rule, field, origin, action } = finding
  const denies = action === 'deny'
  const place = part('path', `${origin.file}:${origin.line}`)
  const by = objectPart(policy.kind, policy.namespace, policy.name)
  const check = hashOf([finding.check ?? '', written(object, finding)])
  return subject.violation(field, `${policy.kind} ${policy.namespace}/${policy.name} ${rule} ${check}`, {
    message: message`${who}: ${by} ${refusalText(finding)}: ${quoted('value', words)}. The policy is at ${place}. It ${effect(action)} when ${identityPart(node.identity)} tries to ${VERBS[operation]} the object.`,
    fix: edited
      ? message`Restore ${by}, or change the object so that it allows it.`
      : message`Change the object so that ${by} allows it.`,
    ...(denies ? {} : { level: 'warning' }),
    ...(isUnchanged
      ? { cause: hashOf(['policy', policy.kind, policy.namespace, policy.name, rule, placeText(edited ?? origin)]) }
      : {}),
    ...(edited ? { origin: edited } : {}),
    policy: findingPolicy(finding, action, isUnchanged),
  })
}

function refusalText({ rule, by }: AdmissionFinding): Message {
  if (rule === '') return message`does not allow it`
  const named = quoted('object', rule)
  return by === 'Kubernetes'
    ? message`with binding ${named} does not allow it`
    : message`with rule ${named} does not allow it`
}

function effect(action: AdmissionFinding['action']): 'denies' | 'warns' | 'reports it' {
  if (action === 'deny') return 'denies'
  return action === 'warn' ? 'warns' : 'reports it'
}

/** The value at the field, so that another value is another violation; nothing for a Secret. */
function written(object: KubeObject, { field }: AdmissionFinding): string {
  const node = kindOf(object) === '/Secret' ? undefined : at(object.root, field)
  return node ? canonical(node) : ''
}

/**
 * How a policy's finding relates to the address of a source. `address`: the policy refuses every spelling, which
 * `source-url-allowlist` reports. `spelling`: it refuses only this one, because policies compare texts. Undefined: the
 * policy refuses the source whatever its address is.
 */
export function addressAnswers(
  subject: Subject,
  context: RuleContext,
): (finding: AdmissionFinding) => 'address' | 'spelling' | undefined {
  const found = addressOf(subject.kind, subject.object)
  if (!found || typeof found.address === 'string') return () => undefined
  const { path, written, address } = found
  const { root } = subject.object
  const origin = at(root, path)?.origin ?? root.origin
  const refusedWith = (given: Pick<ScalarNode, 'value' | 'opaque'>): ReadonlySet<string> => {
    const object = {
      ...subject.object,
      root: withValueAt(root, path.map(String), { type: 'scalar', origin, ...given }),
    }
    return new Set(answerFor(subject, context, { object })?.findings.map(keyOf))
  }
  const withAny = refusedWith({ value: written, opaque: [] })
  const others = spellingsOf(written, address).map(value => refusedWith({ value }))
  return finding => {
    const key = keyOf(finding)
    if (withAny.has(key)) return undefined
    return others.every(refused => refused.has(key)) ? 'address' : 'spelling'
  }
}

const keyOf = ({ policy: { kind, namespace, name }, rule, check }: AdmissionFinding) =>
  JSON.stringify([kind, namespace, name, rule, check])

/** The other forms of an address that a policy may expect. */
function spellingsOf(written: string, { scheme, host, port, parts, text }: SourceAddress): string[] {
  const isGit = scheme === 'https' && parts.length > 0
  const ssh = isGit ? [`ssh://git@${host}${port && `:${port}`}/${parts.join('/')}`] : []
  return written.includes('://') ? [text, ...ssh] : [text.replace(/^\w+:\/\//, '')]
}

/** A pattern of a Kyverno rule that lets the address pass only because its `*` continues a name, as `acme*` lets `acme-evil`. */
export function openPattern(
  { object, kind, node: { cluster } }: Subject,
  { index }: RuleContext,
  { policy, rule }: PolicyRuleName,
): { readonly name: string; readonly origin: Origin } | undefined {
  const found = addressOf(kind, object)
  if (!found || typeof found.address === 'string') return undefined
  const spellings = [found.written, ...spellingsOf(found.written, found.address)]
  const isMatched = (pattern: string) => spellings.some(one => matchesWildcard(pattern, one))
  const isOpen = (pattern: string) =>
    /[A-Za-z0-9]\*+$/.test(pattern) && !['', '/*'].some(end => isMatched(pattern.replace(/\*+$/, end)))
  const written = index.platformObject(cluster, `kyverno.io/${policy.kind}`, policy.namespace, policy.name)
  const rules = itemsOf(written && at(written.root, ['spec', 'rules']))
  const validates = rules.filter(one => stringAt(one, ['name']) === rule).map(one => at(one, ['validate']))
  const matching = validates
    .flatMap(one => (one ? [...scalarsOf(one)] : []))
    .filter(({ path }) => !path.includes('message'))
    .flatMap(({ node: { value, origin } }) =>
      String(value)
        .split('|')
        .map(one => ({ name: one.trim(), origin })),
    )
    .filter(({ name }) => /[./]/.test(name) && isMatched(name))
  return matching.every(({ name }) => isOpen(name)) ? matching[0] : undefined
}
