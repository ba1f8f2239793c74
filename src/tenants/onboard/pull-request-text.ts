import { capsuleText } from './capsule.ts'
import { onboardLine } from './parse-command.ts'
import { type OnboardPlan, pathOn } from './plan.ts'
import {
  accountOf,
  clusterRoleOf,
  codeSpan as code,
  codeSpan,
  type OnboardRequest,
  roleOf,
  secretOf,
  sourceAddress,
  type TenantRole,
} from './request.ts'

interface PullRequestText {
  readonly title: string
  readonly body: string
}

/** Title and body of the onboarding pull request: what the tenant will be able to do, the files, what comes next. */
export function pullRequestText(plan: OnboardPlan): PullRequestText {
  const { request } = plan
  const { tenant, namespaces, clusters, url, branch } = request
  const body = [
    `Onboards tenant ${code(tenant)} on ${list(clusters)}.`,
    ...planParts(plan),
    '### Next',
    [
      '1. Wait for the check on this pull request; it evaluates the fleet as it would be after the merge.',
      `2. Make sure that the cluster can read ${code(url)}: a private repository needs a secret in ${code(namespaces[0]!)} and \`spec.secretRef\`.`,
      `3. Install the App on ${code(url)} and require its check on ${code(branch)}.`,
      '4. Merge it. Merging is the approval.',
    ].join('\n'),
  ]
  return { title: `Onboard tenant ${tenant} on ${clusters.join(', ')}`.slice(0, 200), body: body.join('\n\n') }
}

/** What a tenant would be able to do, and the files that make it so. */
function planParts(plan: OnboardPlan): string[] {
  const { request } = plan
  const { namespaces, clusters } = request
  const paths = clusters.map(cluster => `${code(pathOn(request, cluster) ?? './')} on ${code(cluster)}`)
  return [
    '### What this tenant will be able to do',
    [
      `- ${whoDecides(request)} what runs in ${code(namespaces[0]!)}: ${paths.join(', ')}.`,
      `- It is applied as the account ${code(accountOf(request))}, which has the role ${code(clusterRoleOf(request))} inside ${code(namespaces[0]!)} and no rights outside.`,
      ...furtherNamespaces(request),
    ].join('\n'),
    rights(request),
    ...(roleOf(request) === 'cluster-admin' ? [clusterAdmin(request)] : []),
    ...capsuleText(request, plan.capsule),
    '### Files',
    plan.files.map(file => `- ${code(file.path)} (${file.change})`).join('\n'),
    '### Who must approve',
    approvers(plan),
    ...(plan.summary.length > 0 ? ['### Layout', plan.summary.map(note => `- ${code(note)}`).join('\n')] : []),
  ]
}

const clusterAdmin = (request: OnboardRequest) =>
  `⚠️ ${code('cluster-admin')} allows everything inside the namespaces: also roles and quotas. The flux CLI writes it by default. A role without the status of Flux's objects is ${code('tenant')}:\n\n\`\`\`\n${onboardLine({ ...request, role: 'tenant' })}\n\`\`\``

function furtherNamespaces({ namespaces }: OnboardRequest): string[] {
  if (namespaces.length === 1) return []
  return [
    `- Each further namespace (${list(namespaces.slice(1))}) has its own account with the same role. To apply objects there, add a Kustomization there.`,
  ]
}

/** Verbs of the roles by the defaults of Kubernetes (docs of RBAC, user-facing roles); a cluster may aggregate more into them. */
const VERBS: Readonly<Record<TenantRole, string>> = {
  tenant:
    "read and write workloads, Services, ConfigMaps, Secrets, Ingresses, NetworkPolicies, Flux's objects without their status, Roles and RoleBindings; read quotas",
  'cluster-admin': 'every verb on every kind, roles and quotas too',
  admin:
    'read and write workloads, Services, ConfigMaps, Secrets, Ingresses, NetworkPolicies, Roles and RoleBindings; read quotas',
  edit: 'read and write workloads, Services, ConfigMaps, Secrets, Ingresses and NetworkPolicies; read quotas',
}

function rights(request: OnboardRequest): string {
  const { namespaces, clusters, ref, branch, access } = request
  const reference = ref ? `${ref.field} ${code(ref.value)}` : `branch ${code(branch)}`
  const credentials = access === undefined ? 'no credentials' : `the Secret ${code(secretOf(request)!)} (${access})`
  const rows = [
    ['Accounts', namespaces.map(namespace => code(`${namespace}/${accountOf(request)}`)).join(', ')],
    ['Verbs', `${code(clusterRoleOf(request))}: ${VERBS[roleOf(request)]}`],
    ['Namespaces', list(namespaces)],
    ['Clusters', list(clusters)],
    ['Source', `${code(sourceAddress(request))}, ${reference}, read with ${credentials}`],
  ]
  return ['| | |', '|---|---|', ...rows.map(([name, value]) => `| ${name} | ${value} |`)].join('\n')
}

function approvers({ owners }: OnboardPlan): string {
  const named = owners.length === 0 ? '- No line of CODEOWNERS matches these files.' : `- Code owners: ${list(owners)}.`
  const admin = '- A fleet admin. If one requested it, that is the approval of this commit.'
  return [named, admin, '- As many reviews as the rules of the branch require.'].join('\n')
}

function whoDecides({ url, branch, ref }: OnboardRequest): string {
  switch (ref?.field) {
    case undefined:
      return `Anyone who can push to branch ${code(branch)} of ${code(url)} decides`
    case 'tag':
      return `Anyone who can push the tag ${code(ref.value)} to ${code(url)} decides`
    case 'semver':
      return `Anyone who can push a tag in the range ${code(ref.value)} to ${code(url)} decides`
    case 'commit':
    case 'digest':
      return `The ${ref.field} ${code(ref.value)} of ${code(url)} decides`
  }
}

const list = (values: readonly string[]) => values.map(code).join(', ')

/** Marks our answer to a tenant request. Anyone can write it: match the author too. */
export const PREVIEW_MARKER = '<!-- bailiwick:tenant-request -->'

/** What comes after a request for a tenant. */
interface PreviewNext {
  /** Login of the requester. */
  readonly by: string
  /** The pull request that is open for it. */
  readonly pull?: number
  /** Why none was opened; for people. */
  readonly why?: string
}

/** The answer to an issue that asks for a tenant: what it would get, the files, and what happens next. Markdown. */
export function previewText(
  request: OnboardRequest,
  plan: OnboardPlan,
  team: string | undefined,
  { by, pull, why }: PreviewNext,
): string {
  // names and addresses of a request were checked: nothing in them ends the block
  const line = `\`\`\`\n${onboardLine(request)}\n\`\`\``
  const next =
    pull === undefined
      ? `**Next:** a fleet admin who also administers the repository comments here:\n\n${line}`
      : `**Next:** #${pull} adds it. Merging is the approval. To change it, comment here:\n\n${line}`
  return [
    `${codeSpan(by)} requests the tenant ${codeSpan(request.tenant)}${team === undefined ? '' : `, for the team ${codeSpan(team)}`}.`,
    ...planParts(plan),
    ...(why === undefined ? [] : [why]),
    next,
  ].join('\n\n')
}
