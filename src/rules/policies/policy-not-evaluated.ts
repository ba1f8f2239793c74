import { objectPart, quoted } from '../../facts/shown.ts'
import type { Subject } from '../../facts/subject.ts'
import { canonical } from '../../kube/node.ts'
import { codeWord, message, part } from '../../message/message.ts'
import type { Rule, RuleContext } from '../model/rule.ts'
import { admissionOf } from './support/admission-of.ts'
import { findingPolicy } from './support/finding-policy.ts'
import { partsNotEvaluated, WHOLE_KIND } from './support/parts-not-evaluated.ts'

/** What a policy would answer and cannot be said here: nobody takes silence for a yes. */
export const policyNotEvaluated: Rule = {
  id: 'policy-not-evaluated',
  severity: 'low',
  level: 'warning',
  title: 'Policy that cannot be evaluated for an object',
  why: 'The result of the policy depends on what only the cluster knows, or a part of it is not supported. The object may be refused or changed after the merge.',
  source: 'https://kubernetes.io/docs/reference/access-authn-authz/validating-admission-policy/',
  docs: 'Read the reason. Not evaluated at all: MutatingAdmissionPolicies, `mutate` and `generate` of Kyverno policies, the signatures that `verifyImages` and ImageValidatingPolicies ask for (which images they cover is, by `image-unverified` and `bailiwick audit`), the policies of `policies.kyverno.io` other than ValidatingPolicies, Gatekeeper, Kubewarden, ResourcePools and quotas of Capsule, and `rules` and quota annotations of Capsule Tenants; the rule says so when the platform adds or changes one of them. Of the CEL functions of Kyverno not evaluated: `time.now`, `random`, `x509.decode`, `gzip.compress`, `gzip.decompress`, `json.encode`, and what `http`, `resource`, `globalContext` and `image.GetMetadata` read from outside of the fleet. Otherwise render the Namespace, the role or the object that is missing, or watch the first apply of the object.',
  kinds: 'every',
  *checkObject(subject, context) {
    const { node, object, id } = subject
    const parts = node.tenant === undefined && isChanged(subject, context) ? partsNotEvaluated(subject) : []
    for (const value of parts) {
      yield {
        node,
        object,
        path: [],
        value,
        message: message`${objectPart(id.kind, id.namespace, id.name)}: Bailiwick does not evaluate ${value === WHOLE_KIND ? message`policies of this kind` : message`${quoted('field', value)} in it`}, so what it refuses or changes is not known before the merge. Evaluated: ValidatingAdmissionPolicies, Kyverno's ValidatingPolicies, ${codeWord('validate')} of its ClusterPolicies and Policies, and the other fields of Capsule's Tenants.`,
        fix: message`Check on the cluster what the policy does to the objects that it selects.`,
      }
    }
    const seen = new Set<string>()
    const admission = admissionOf(subject, context)
    for (const one of admission?.notEvaluated ?? []) {
      const { policy, rule, why, origin } = one
      const value = `${policy.kind} ${policy.namespace}/${policy.name} ${rule} ${why}`
      if (seen.has(value)) continue
      seen.add(value)
      const by = objectPart(policy.kind, policy.namespace, policy.name)
      yield {
        node,
        object,
        path: [],
        value,
        message: message`${objectPart(id.kind, id.namespace, id.name)}: ${by} was not evaluated: ${quoted('value', why)}. The policy is at ${part('path', `${origin.file}:${origin.line}`)}.`,
        fix: message`Check on the cluster whether ${by} allows the object.`,
        policy: findingPolicy(one, 'unknown', admission?.isUnchanged === true),
      }
    }
  },
}

/** Said when a policy of the platform comes or changes; docs/rules.md says it of those that stand. A tenant's own are for its own objects. */
function isChanged({ object, id, kind, node }: Subject, { before }: RuleContext): boolean {
  if (!before) return false
  const old = before.versionsOf(node.cluster, kind, id.namespace, id.name)
  return !old.some(version => canonical(version.object.root) === canonical(object.root))
}
