import { codeSpan as code } from '../onboard/code-span.ts'
import type { OffboardPlan } from './plan.ts'
import type { OffboardRequest } from './request.ts'

interface OffboardText {
  readonly title: string
  /** Markdown. */
  readonly body: string
}

/** The command with which a fleet admin says that the last change is applied. */
const nextLine = ({ tenant, clusters }: OffboardRequest): string =>
  [`/bailiwick offboard ${tenant}`, ...clusters.map(name => `--cluster ${name}`), '--continue'].join(' ')

/** Title and text of one of the pull requests: what is deleted where, the files, what comes next. */
export function offboardText(request: OffboardRequest, plan: OffboardPlan): OffboardText {
  const { tenant } = request
  const isFirst = plan.stage === 'workloads'
  const where = plan.clusters.map(name => code(name)).join(', ')
  const body = [
    isFirst
      ? `Removes what runs for tenant ${code(tenant)} on ${where}. This is the first of two pull requests: accounts, roles, sources and namespaces stay, because the tenant's objects are deleted with them.`
      : `Removes the rest of tenant ${code(tenant)} on ${where}: sources, accounts, roles, namespaces and credentials. This is the second of two pull requests.`,
    '### What is deleted',
    plan.objects.map(({ cluster, names }) => `- on ${code(cluster)}: ${names.map(code).join(', ')}`).join('\n'),
    ...(plan.nodes.length > 0 ? [plan.nodes.map(nodeLine).join('\n')] : []),
    ...data(plan),
    ...filesText(plan),
    '### Next',
    isFirst
      ? `Merge it. When the clusters have applied it, Bailiwick opens the next pull request. On clusters that no worker of Bailiwick applies to, a fleet admin comments when the Kustomizations are gone:\n\n${block(nextLine(request))}`
      : `Merge it. If the tenant is then on no cluster, its deploy keys are deleted. Remove its namespaces from ${code('clusters.yaml')} of the worker if it names them (${code('kmsKeys')}, ${code('kubeConfigs')}).`,
  ]
  const title = isFirst ? `Offboard tenant ${tenant}: workloads` : `Offboard tenant ${tenant}: accounts and namespaces`
  return { title: title.slice(0, 200), body: body.join('\n\n') }
}

const block = (line: string) => `\`\`\`\n${line}\n\`\`\``

function filesText({ files, notes }: OffboardPlan): string[] {
  return [
    '### Files',
    files.map(({ path, content }) => `- ${code(path)} (${content === null ? 'deleted' : 'edited'})`).join('\n'),
    ...(notes.length > 0 ? ['### By hand', notes.map(note => `- ${code(note)}`).join('\n')] : []),
  ]
}

function nodeLine({ key, prunes, claims }: OffboardPlan['nodes'][number]): string {
  if (!prunes)
    return `- ${code(key)} deletes nothing: it does not prune, or is suspended. Its objects stay until their namespace goes.`
  const volumes =
    claims.length > 0
      ? `, with the data of ${claims.map(name => code(`PersistentVolumeClaim ${name}`)).join(', ')}`
      : ''
  return `- ${code(key)} deletes everything that it applied${volumes}`
}

/** Git restores manifests, not volumes. */
function data({ objects }: OffboardPlan): string[] {
  const namespaces = objects.flatMap(({ cluster, names }) =>
    names.filter(name => name.startsWith('Namespace ')).map(name => `${code(name)} on ${code(cluster)}`),
  )
  if (namespaces.length === 0) return []
  return [
    `⚠️ Deleting ${namespaces.join(', ')} deletes everything that is left there, PersistentVolumeClaims and their data too. Git cannot restore it.`,
  ]
}

/** The reply where the second change waits. */
export function waitingText(
  request: OffboardRequest,
  waits: readonly { cluster: string; isApplied: boolean }[],
): string {
  const unapplied = waits.filter(({ isApplied }) => isApplied).map(({ cluster }) => code(cluster))
  const unseen = waits.filter(({ isApplied }) => !isApplied).map(({ cluster }) => code(cluster))
  return [
    `The workloads of tenant ${code(request.tenant)} are removed from the fleet. The next pull request waits.`,
    ...(unapplied.length > 0 ? [`- The worker has not applied that yet to ${unapplied.join(', ')}.`] : []),
    ...(unseen.length > 0
      ? [
          `- No worker of Bailiwick applies to ${unseen.join(', ')}. When the Kustomizations of the tenant are gone there, comment:\n\n${block(nextLine(request))}`,
        ]
      : []),
  ].join('\n')
}
