import { fleetFiles } from '../../fleet/fleets/read-fleet.ts'
import type { Stage } from '../story/stage.ts'
import { DEV } from './red-together.ts'

const FLEET = 'acme/fleet'
const PATCH = 'tenants/production/dev-team-patch.yaml'
const OVERLAY = 'tenants/production/kustomization.yaml'

/** The fleet with a production cluster that follows another branch of dev-team than the staging cluster. */
function followedFiles(branch: string): Record<string, string> {
  return {
    [OVERLAY]: fleetFiles(FLEET)[OVERLAY]!.replace('patches:\n', 'patches:\n  - path: branch.yaml\n'),
    [PATCH]: fleetFiles(FLEET)[PATCH]!,
    'tenants/production/branch.yaml': `apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata:
  name: dev-team
  namespace: apps
spec:
  ref:
    branch: ${branch}
`,
  }
}

/** Has production follow a branch of dev-team, made at the commit of `main` where it is not there: then two bases are gated. */
export async function followOnProduction(stage: Stage, branch: string): Promise<void> {
  const { github } = stage
  if (!github.repositoryNamed(DEV).refs.has(`refs/heads/${branch}`)) {
    github.pushRef({ repo: DEV, branch, sha: github.commitOf(DEV, 'main'), as: 'ada' })
  }
  github.push({ repo: FLEET, files: followedFiles(branch), as: 'ada' })
  await stage.settle()
}
