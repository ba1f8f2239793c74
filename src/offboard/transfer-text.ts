import { codeSpan as code } from '../onboard/code-span.ts'
import type { OffboardPlan } from './plan.ts'
import type { OffboardRequest } from './request.ts'

interface TransferText {
  readonly title: string
  /** Markdown: what the pull request does and lists. */
  readonly intro: string
  readonly heading: string
  /** What happens after the merge. */
  readonly next: string
}

/** Title and text of a pull request for a rename or a hand-over. */
export function transferText(request: OffboardRequest, { stage }: OffboardPlan): TransferText {
  return request.namespace === undefined ? renameText(request, stage) : handOverText(request, stage)
}

function renameText({ tenant, name = '' }: OffboardRequest, stage: OffboardPlan['stage']): TransferText {
  const [old, now] = [code(tenant), code(name)]
  if (stage === 'arrival') {
    return {
      title: `Rename tenant ${tenant} to ${name}: new account`,
      intro: `Adds accounts, bindings and sources named ${now} beside those named ${old}. Nothing uses them yet, and nothing is removed. This is the first of three pull requests.`,
      heading: 'What is added',
      next: 'Merge it. When the clusters have applied it, Bailiwick opens the pull request that changes the owner.',
    }
  }
  if (stage === 'switch') {
    return {
      title: `Rename tenant ${tenant} to ${name}: owner`,
      intro: `Namespaces of tenant ${old} belong to ${now}, and its Kustomizations act as the account ${now}. Namespaces and Kustomizations keep their names: Kubernetes cannot rename a namespace, and a Kustomization of another name would delete what the old one applied. What is named ${old} stays until the next pull request.`,
      heading: 'What changes',
      next: 'Merge it. When the clusters have applied it, Bailiwick opens the pull request that removes what nothing uses anymore.',
    }
  }
  return {
    title: `Rename tenant ${tenant} to ${name}: old account`,
    intro: `Removes accounts, bindings and sources named ${old}. Each has a successor named ${now}, and nothing in the fleet names the old one. This is the last pull request.`,
    heading: 'What is deleted',
    next: 'Merge it. The tenant then has its new name everywhere in the fleet.',
  }
}

function handOverText({ tenant, namespace = '' }: OffboardRequest, stage: OffboardPlan['stage']): TransferText {
  const [to, of] = [code(tenant), code(namespace)]
  if (stage === 'switch') {
    return {
      title: `Hand namespace ${namespace} over to ${tenant}: owner`,
      intro: `Namespace ${of} belongs to tenant ${to}, and its accounts get their rights there. The former tenant keeps its rights there until the second pull request, so that it can delete what it applied.`,
      heading: 'What changes',
      next: `Merge it. Move the objects that should stay from the repository of the former tenant to that of ${to}, and then ask for the second pull request.`,
    }
  }
  return {
    title: `Hand namespace ${namespace} over to ${tenant}: former rights`,
    intro: `Removes the rights of other tenants in namespace ${of}. This is the second of two pull requests.`,
    heading: 'What is deleted',
    next: `Merge it. Only tenant ${to} then has rights in ${of}.`,
  }
}
