import { apiRefusal } from '../../rules/model/api-refusal.ts'
import type { Finding } from '../../rules/model/finding.ts'

/** `verbatim`: the words of the API server; else ours. */
interface ClusterAnswer {
  readonly text: string
  readonly verbatim: boolean
}

/** Many messages say it themselves. */
const SAID = /\bAPI server(?:,|:| accepts?\b)|\bFlux(?:,|:| accepts?\b| would\b)/

/**
 * What Flux or the API server would have answered, as plain text; undefined where we do not know it for sure
 * or the message says it already.
 * Wording: kustomize-controller (acl.go, ssa errors) and apiserver/pkg/endpoints/handlers/responsewriters/errors.go.
 */
export function clusterAnswer(finding: Finding): ClusterAnswer | undefined {
  if (SAID.test(finding.message)) return undefined
  const text = answerText(finding)
  return text === undefined ? undefined : { text, verbatim: text.includes(' is forbidden: User ') }
}

function answerText(finding: Finding): string | undefined {
  const impersonated = finding.identity.startsWith('system:serviceaccount:') || finding.identity.startsWith('gotk:')
  switch (finding.rule) {
    case 'namespace-confinement':
    case 'cluster-scoped-forbidden':
      if (!impersonated) return 'none: Flux applies it with its own rights (cluster-admin)'
      return refusal(finding)
    case 'sa-required':
      return impersonated
        ? `applies it as ${finding.identity}, whatever that account may do`
        : 'none: Flux applies it with its own rights (cluster-admin)'
    case 'cross-namespace-ref':
      return "with --no-cross-namespace-refs: can't access the source, cross-namespace references have been blocked; without it: nothing"
    case 'plaintext-secret':
      return 'none: the API server accepts it. Everyone who can read the repository can read the value'
    default:
      return undefined
  }
}

function refusal({ object, identity, rule }: Finding): string {
  return apiRefusal(identity, rule === 'cluster-scoped-forbidden' ? { ...object, namespace: '' } : object)
}
