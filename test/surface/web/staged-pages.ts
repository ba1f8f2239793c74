import { propose, said } from '../../workers/story/said.ts'
import { type Stage, startStage } from '../../workers/story/stage.ts'
import { deploymentFile, MOVE_PATCH, overlay } from '../../workers/story/tenant-changes.ts'

const ONBOARD = '/bailiwick onboard ops-team --repo https://github.com/acme/ops-team --namespace ops --cluster staging'

/** A stage where acme has two tenants, and pages of a verdict of each kind. */
export interface StagedPages {
  readonly stage: Stage
  /** Address of the page of a pull request of ops-team that moves a Deployment into the namespace of dev-team. */
  readonly red: string
  /** Of a pull request of the fleet that changes something and is in order. */
  readonly green: string
  readonly fleet: string
}

/** Onboards a tenant, then has a pull request held back and another one let through. Close the stage afterwards. */
export async function startStagedPages(options: Parameters<typeof startStage>[0] = {}): Promise<StagedPages> {
  const stage = await startStage(options)
  const { github } = stage
  await stage.settle()
  const { number: issue } = github.issue({ repo: 'acme/fleet', title: 'A team for operations', as: 'ada' })
  github.comment({ repo: 'acme/fleet', issue, as: 'ada', body: ONBOARD })
  await stage.settle()
  const onboarding = github.pullRequestsOf('acme/fleet')[0]
  if (!onboarding) throw new Error('nobody was onboarded')
  github.merge({ repo: 'acme/fleet', pull: onboarding.issue.number, as: 'ada' })
  await stage.settle()
  const files = {
    'kustomization.yaml': overlay({ moved: true }),
    'report.yaml': deploymentFile('report'),
    'move.yaml': MOVE_PATCH,
  }
  await propose(stage, { repo: 'acme/ops-team', branch: 'report', files })
  const namespace = `apiVersion: v1\nkind: Namespace\nmetadata:\n  name: ops-previews\n  labels:\n    toolkit.fluxcd.io/tenant: ops-team\n`
  const kustomization = github.readFile('acme/fleet', 'main', 'tenants/base/ops-team/kustomization.yaml')
  await propose(stage, {
    repo: 'acme/fleet',
    branch: 'previews',
    files: {
      'tenants/base/ops-team/previews.yaml': namespace,
      'tenants/base/ops-team/kustomization.yaml': kustomization.replace('resources:', 'resources:\n  - previews.yaml'),
    },
  })
  const page = (repo: string, ref: string) => said(github, repo, ref).detailsUrl ?? ''
  return {
    stage,
    red: page('acme/ops-team', 'report'),
    green: page('acme/fleet', 'previews'),
    fleet: `${stage.site.url}/fleets/acme/fleet`,
  }
}
