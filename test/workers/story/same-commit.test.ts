import { afterAll, beforeAll, expect, test } from 'vitest'
import { fleetFiles } from '../../fleet/fleets/read-fleet.ts'
import { said } from './said.ts'
import { type Stage, startStage } from './stage.ts'

const DEV = 'acme/dev-team'
const OVERLAY = 'production/kustomization.yaml'
/** Of production only: what staging gets stays as it was. */
const FOREIGN = `  - patch: |
      - op: replace
        path: /metadata/namespace
        value: kube-system
    target:
      kind: Deployment
`

let stage: Stage
beforeAll(async () => {
  stage = await startStage()
  // staging follows the branch dev of the tenant, production goes on following main
  const patch = `  - target: {kind: GitRepository, name: dev-team}
    patch: |
      - op: replace
        path: /spec/ref/branch
        value: dev
`
  const file = 'tenants/staging/kustomization.yaml'
  const sha = stage.github.commitOf(DEV, 'main')
  for (const branch of ['dev', 'scratch']) stage.github.pushRef({ repo: DEV, branch, sha, as: 'ada' })
  stage.github.push({
    repo: 'acme/fleet',
    files: { [file]: fleetFiles('acme/fleet')[file]! + patch },
    as: 'ada',
  })
  await stage.settle()
}, 60_000)
afterAll(() => stage?.close())

test('a commit that one pull request may not merge stays red, whatever else is said of it', async () => {
  const { github } = stage
  const files = { [OVERLAY]: fleetFiles(DEV)[OVERLAY]! + FOREIGN }
  const { sha } = github.push({ repo: DEV, branch: 'change', parent: github.commitOf(DEV, 'dev'), files, as: 'ada' })
  github.openPullRequest({ repo: DEV, head: 'change', as: 'ada' })
  await stage.settle()
  expect(said(github, DEV, 'change').conclusion).toBe('failure')

  github.openPullRequest({ repo: DEV, head: 'change', base: 'scratch', as: 'ada' })
  await stage.settle()
  expect(said(github, DEV, 'change').conclusion).toBe('failure')

  github.pushRef({ repo: DEV, branch: 'dev', sha, as: 'ada' })
  await stage.settle()
  expect(said(github, DEV, 'change').conclusion).toBe('failure')
}, 60_000)
