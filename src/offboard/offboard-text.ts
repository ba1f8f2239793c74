import { codeSpan as code } from '../onboard/code-span.ts'
import type { OffboardPlan } from './plan.ts'
import { isTransfer, type OffboardRequest, type OffboardStage } from './request.ts'
import { transferText } from './transfer-text.ts'

interface OffboardText {
  readonly title: string
  /** Markdown. */
  readonly body: string
}

/** The command with which a fleet admin says that the last change is applied. */
const nextLine = ({ tenant, clusters, to, name, namespace }: OffboardRequest): string =>
  [
    ...(name !== undefined
      ? [`/bailiwick rename ${tenant} --to ${name}`]
      : namespace !== undefined
        ? [`/bailiwick hand-over ${namespace} --to ${tenant}`]
        : to === undefined
          ? [`/bailiwick offboard ${tenant}`]
          : [`/bailiwick move ${tenant} --to ${to}`]),
    ...clusters.map(name => (to === undefined ? `--cluster ${name}` : `--from ${name}`)),
    '--continue',
  ].join(' ')

/** Title and text of one of the pull requests: what is added or deleted where, the files, what comes next. */
export function offboardText(request: OffboardRequest, plan: OffboardPlan): OffboardText {
  const { tenant, to } = request
  if (isTransfer(request)) return changeText(request, plan)
  if (plan.stage === 'arrival') return arrivalText(request, plan)
  const isFirst = plan.stage === 'workloads'
  const place =
    to === undefined ? (isFirst ? 'first of two' : 'second of two') : isFirst ? 'second of three' : 'last of three'
  const where = plan.clusters.map(name => code(name)).join(', ')
  const body = [
    isFirst
      ? `Removes what runs for tenant ${code(tenant)} on ${where}. This is the ${place} pull requests: accounts, roles, sources and namespaces stay, because the tenant's objects are deleted with them.`
      : `Removes the rest of tenant ${code(tenant)} on ${where}: sources, accounts, roles, namespaces and credentials. This is the ${place} pull requests.`,
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

function changeText(request: OffboardRequest, plan: OffboardPlan): OffboardText {
  const { title, intro, heading, next } = transferText(request, plan)
  const isLast = plan.stage === 'rest'
  const body = [
    intro,
    `### ${heading}`,
    plan.objects.map(({ cluster, names }) => `- on ${code(cluster)}: ${names.map(code).join(', ')}`).join('\n'),
    ...filesText(plan),
    '### Next',
    isLast ? next : `${next} A fleet admin can ask for it with:\n\n${block(nextLine(request))}`,
  ]
  return { title: title.slice(0, 200), body: body.join('\n\n') }
}

function arrivalText(request: OffboardRequest, plan: OffboardPlan): OffboardText {
  const [cluster = ''] = plan.clusters
  const { tenant } = request
  const body = [
    `Adds tenant ${code(tenant)} to ${code(cluster)}, with the same objects as on the cluster that it leaves. This is the first of three pull requests: the tenant runs on both clusters until the next one is merged.`,
    '### What is added',
    plan.objects.map(({ names }) => `- on ${code(cluster)}: ${names.map(code).join(', ')}`).join('\n'),
    'The data of PersistentVolumeClaims is not copied. The Kustomizations keep their `spec.path`.',
    ...filesText(plan),
    '### Next',
    `Merge it. When ${code(cluster)} has applied it, Bailiwick opens the pull request that removes the workloads from the old cluster. If no worker of Bailiwick applies to ${code(cluster)}, a fleet admin comments when the tenant runs there:\n\n${block(nextLine(request))}`,
  ]
  return { title: `Move tenant ${tenant} to ${cluster}`.slice(0, 200), body: body.join('\n\n') }
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

/** The reply where the next change waits. `stage`: that of the next change. */
export function waitingText(
  request: OffboardRequest,
  stage: OffboardStage,
  waits: readonly { cluster: string; isApplied: boolean }[],
): string {
  const unapplied = waits.filter(({ isApplied }) => isApplied).map(({ cluster }) => code(cluster))
  const unseen = waits.filter(({ isApplied }) => !isApplied).map(({ cluster }) => code(cluster))
  return [
    isTransfer(request)
      ? 'The last pull request is merged. The next one waits.'
      : stage === 'workloads'
        ? `Tenant ${code(request.tenant)} is in the fleet on the new cluster. The next pull request waits.`
        : `The workloads of tenant ${code(request.tenant)} are removed from the fleet. The next pull request waits.`,
    ...(unapplied.length > 0 ? [`- The worker has not applied that yet to ${unapplied.join(', ')}.`] : []),
    ...(unseen.length > 0
      ? [
          `- No worker of Bailiwick applies to ${unseen.join(', ')}. When ${isTransfer(request) ? 'the change is applied there' : stage === 'workloads' ? 'the tenant runs there' : 'the Kustomizations of the tenant are gone there'}, comment:\n\n${block(nextLine(request))}`,
        ]
      : []),
  ].join('\n')
}
