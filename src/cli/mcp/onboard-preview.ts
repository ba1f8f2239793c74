import { openWorkingCopy } from '../../git/working-copy.ts'
import { kubeConfigSteps } from '../../onboard/capsule-text.ts'
import { parseOnboardArguments } from '../../onboard/parse-command.ts'
import { type OnboardPlan, planOnboarding } from '../../onboard/plan.ts'
import { repositoryAddress } from '../repository-address.ts'
import type { Roots } from './open-roots.ts'
import type { ToolArguments } from './read-arguments.ts'

/** The files that `bailiwick onboard` would write, without credentials. */
export async function onboardPreview(
  given: ToolArguments,
  roots: Roots,
): Promise<Pick<OnboardPlan, 'files' | 'summary' | 'owners'>> {
  const dir = await roots.repository(given.one('fleet') ?? '.')
  const optional = ['branch', 'path', 'role'].flatMap(name => {
    const value = given.one(name)
    return value === undefined ? [] : [`--${name}`, value]
  })
  const request = parseOnboardArguments([
    given.text('tenant'),
    ...['--repo', given.text('repo')],
    ...given.all('namespaces').flatMap(name => ['--namespace', name]),
    ...given.all('clusters').flatMap(name => ['--cluster', name]),
    ...optional,
  ])
  const { url, branch } = await repositoryAddress(dir, {})
  const plan = planOnboarding(request, await openWorkingCopy(dir), url, branch)
  const steps = kubeConfigSteps(plan.request, plan.capsule)
  return { files: plan.files, summary: [...plan.summary, ...steps], owners: plan.owners }
}
