import type { PolicyAnswer, PolicyFinding, PolicyQuestion } from '../engine.ts'
import type { CelPolicy } from '../native/native-policy.ts'
import type { AddressVerdict } from './refuses-address.ts'

/** The verdict of a CEL policy on an address, as an answer. */
export function addressAnswer(
  { kind, namespace, name, object: { root } }: CelPolicy,
  verdict: NonNullable<AddressVerdict>,
  { subject, field }: PolicyQuestion,
  action: PolicyFinding['action'],
): PolicyAnswer {
  const rule = { policy: { kind, namespace, name }, rule: '', origin: root.origin }
  if ('unclear' in verdict) return { findings: [], notEvaluated: [{ ...rule, why: verdict.unclear }] }
  const by = kind === 'ValidatingAdmissionPolicy' ? 'Kubernetes' : 'Kyverno'
  const message = verdict.refused
  return { findings: [{ ...rule, object: subject.object, field, message, action, by }], notEvaluated: [] }
}
