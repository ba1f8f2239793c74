import { codeSpan as code } from './code-span.ts'
import { onboardLine } from './parse-command.ts'
import { type OnboardPlan, pathOn } from './plan.ts'
import { accountOf, type OnboardRequest, roleOf } from './request.ts'

interface PullRequestText {
  readonly title: string
  readonly body: string
}

/** Title and body of the onboarding pull request: what the tenant will be able to do, the files, what comes next. */
export function pullRequestText(request: OnboardRequest, plan: OnboardPlan): PullRequestText {
  const { tenant, namespaces, clusters, url, branch } = request
  const body = [
    `Onboards tenant ${code(tenant)} on ${list(clusters)}.`,
    ...planParts(request, plan),
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
export function planParts(request: OnboardRequest, plan: OnboardPlan): string[] {
  const { namespaces, clusters } = request
  const paths = clusters.map(cluster => `${code(pathOn(request, cluster) ?? './')} on ${code(cluster)}`)
  const more =
    namespaces.length > 1
      ? `- Each further namespace (${list(namespaces.slice(1))}) has its own account with the same role. To apply objects there, add a Kustomization there.`
      : undefined
  return [
    '### What this tenant will be able to do',
    [
      `- ${whoDecides(request)} what runs in ${code(namespaces[0]!)}: ${paths.join(', ')}.`,
      `- It is applied as the account ${code(accountOf(request))}, which has the role ${code(roleOf(request))} inside ${code(namespaces[0]!)} and no rights outside.`,
      ...(more ? [more] : []),
    ].join('\n'),
    ...(roleOf(request) === 'cluster-admin' ? [clusterAdmin(request)] : []),
    '### Files',
    plan.files.map(file => `- ${code(file.path)} (${file.change})`).join('\n'),
    ...(plan.summary.length > 0 ? ['### Layout', plan.summary.map(note => `- ${code(note)}`).join('\n')] : []),
  ]
}

const clusterAdmin = (request: OnboardRequest) =>
  `⚠️ ${code('cluster-admin')} allows everything inside the namespaces: also roles, quotas and network policies. The flux CLI writes it by default. For workloads alone, use ${code('edit')} instead:\n\n\`\`\`\n${onboardLine({ ...request, role: 'edit' })}\n\`\`\``

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
