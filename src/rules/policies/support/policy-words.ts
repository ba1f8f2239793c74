import type { FleetIndex } from '../../../facts/fleet-index.ts'
import { idOf, type KubeObject } from '../../../kube/object.ts'
import { redact } from '../../../message/redact.ts'
import type { AdmissionFinding } from '../../../policy/admission/admission-request.ts'
import { scalarsOf } from '../../secrets/support/scalars-of.ts'

/** Without the quotes around them, as expressions and messages have. */
const WORDS = /[^\s'"`]+/g
const GROUPS = ['kyverno.io', 'policies.kyverno.io', 'admissionregistration.k8s.io']
/** What engines put around the words of a policy. */
const FRAME = 'rule failed at path validation error failed expression: expression resulted in error:'

/**
 * What a policy says about an object, for readers of a report. A message can quote the object. Of one about a Secret only the
 * words are shown that stand in the policy itself, and of any other none that look like a credential.
 */
export function policyWords(
  index: FleetIndex | undefined,
  cluster: string,
  object: KubeObject,
  finding: AdmissionFinding,
): string {
  if (idOf(object).kind !== 'Secret') return redact(finding.message)
  const known = new Set([...wordsOf(FRAME), ...wordsOf(finding.rule), ...policyText(index, cluster, finding)])
  return finding.message.replace(WORDS, word => (known.has(word) ? word : '***'))
}

const wordsOf = (text: string): readonly string[] => text.match(WORDS) ?? []

function policyText(index: FleetIndex | undefined, cluster: string, { policy }: AdmissionFinding): string[] {
  const { kind, namespace, name } = policy
  for (const group of GROUPS) {
    const found = index?.platformObject(cluster, `${group}/${kind}`, namespace, name)
    if (found) return [...scalarsOf(found.root)].flatMap(({ node }) => wordsOf(String(node.value)))
  }
  return []
}
