import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { findAssets, NO_ASSETS } from '../../../tools/envtest/assets.ts'
import { fleetFiles } from '../../fleet/fleets/read-fleet.ts'
import { stagingOverlay } from './batch.ts'
import { saidOfApply } from './said.ts'
import { type Stage, startStage } from './stage.ts'
import { deploymentFile, makeByHand } from './tenant-changes.ts'

const missing = findAssets() ? undefined : NO_ASSETS
const TEAM = 'acme/dev-team'
const MARKER = '<!-- bailiwick:applied -->'

describe.skipIf(missing)(`results on merged pull requests${missing ? ` (${missing})` : ''}`, () => {
  let stage: Stage
  beforeAll(async () => {
    stage = await startStage({ clusters: ['staging'] })
    await stage.settle()
  })
  afterAll(() => stage?.close())

  const open = async (branch: string, files: Readonly<Record<string, string>>, as = 'dora') => {
    const { github } = stage
    github.propose({ repo: TEAM, branch, files, as })
    await stage.settle()
    return github.pullRequestsOf(TEAM).at(-1)!.issue.number
  }
  const merge = async (pull: number) => {
    expect(stage.github.merge({ repo: TEAM, pull, as: 'ada' })).toMatchObject({ status: 200 })
    await stage.settle()
  }
  const results = (pull: number) => stage.github.commentsOf(TEAM, pull).filter(({ body }) => body.startsWith(MARKER))

  test('what was applied, in one comment', async () => {
    const pull = await open('report', {
      'staging/kustomization.yaml': stagingOverlay(['report.yaml']),
      'staging/report.yaml': deploymentFile('report', 'apps'),
    })
    expect(results(pull)).toEqual([])
    await merge(pull)
    const [comment, ...more] = results(pull)
    expect(more).toEqual([])
    expect(comment!.body).toContain('✅ **Applied: 1 Kustomization**')
    expect(comment!.body).toContain('- created `Deployment apps/report`')
    expect(comment!.body).toContain(`/clusters/acme/dev-team/staging)`)
    // another tenant's Kustomizations, and the platform's, are not this repository's
    expect(comment!.body).not.toContain('flux-system')
  })

  test('what the API server refuses: at its line, for the author of that file only', async () => {
    await makeByHand(stage.clusters.staging!, 'bad')
    const pull = await open('bad', {
      'staging/kustomization.yaml': stagingOverlay(['report.yaml', 'bad.yaml']),
      'staging/bad.yaml': deploymentFile('bad', 'apps'),
    })
    await merge(pull)
    const [comment] = results(pull)
    expect(comment!.body).toContain('❌ **1 of 1 Kustomization failed**')
    expect(comment!.body).toMatch(
      /- refused `Deployment apps\/bad` at \[`staging\/bad\.yaml:1`]\(https:\S+\/blob\/[\da-f]{40}\/staging\/bad\.yaml#L1\): .*spec\.selector/,
    )
    expect(comment!.body).toContain('@dora: this Kustomization reads files that you changed here.')
    expect(comment!.body.match(/@[a-z]/g)).toEqual(['@d'])
    const run = saidOfApply(stage.github, TEAM)
    expect(run).toMatchObject({ conclusion: 'failure' })
    expect(run.annotations).toMatchObject([{ path: 'staging/bad.yaml', start_line: 8 }])
    expect(run.annotations[0]!.message).toContain('spec.selector')
  })

  test('a merge that fixes it: its own comment says applied, and the failed one stays as it was', async () => {
    const failed = stage.github.pullRequestsOf(TEAM).at(-1)!.issue.number
    const before = results(failed)[0]!.body
    await stage.clusters.staging!.request('DELETE', '/apis/apps/v1/namespaces/apps/deployments/bad')
    const pull = await open('fix', { 'staging/bad.yaml': `# again\n${deploymentFile('bad', 'apps')}` }, 'ada')
    await merge(pull)
    expect(results(pull)[0]!.body).toContain('✅ **Applied: 1 Kustomization**')
    expect(results(pull)[0]!.body).not.toContain('@')
    expect(results(failed)[0]!.body).toBe(before)
  })

  test('a merge that changes nothing on a cluster is not commented on', async () => {
    const pull = await open('readme', { 'README.md': '# Nothing\n' })
    await merge(pull)
    expect(results(pull)).toEqual([])
  })

  test('what others change is put back, and told with who changed it and which fields', async () => {
    const pull = await open('watched', {
      'staging/kustomization.yaml': stagingOverlay(['report.yaml', 'bad.yaml', 'more.yaml']),
      'staging/more.yaml': deploymentFile('more', 'apps'),
    })
    await merge(pull)
    const path = '/apis/apps/v1/namespaces/apps/deployments/more'
    const patch = { spec: { replicas: 7 } }
    await stage.clusters.staging!.request('PATCH', `${path}?fieldManager=kubectl-edit`, patch, {
      contentType: 'application/merge-patch+json',
    })
    await expect
      .poll(() => results(pull)[0]!.body, { timeout: 20_000 })
      .toContain('- `Deployment apps/more` of `staging/apps/dev-team`: `spec.replicas` by `kubectl-edit`')
    expect(results(pull)).toHaveLength(1)
    const address = /\[details]\((\S+)\)/.exec(results(pull)[0]!.body)![1]!
    const page = await (await fetch(address)).text()
    expect(page).toContain('Corrected drift (1)')
    expect(page).toContain('kubectl-edit')
  })

  test('a direct push has a check run and no comment', async () => {
    const writes = () =>
      stage.github.requests.filter(one => one.method === 'POST' && /\/comments$/.test(one.path)).length
    const before = writes()
    stage.github.push({
      repo: TEAM,
      files: fleetFiles(TEAM),
      remove: ['staging/bad.yaml', 'staging/report.yaml'],
      as: 'ada',
    })
    await stage.settle()
    expect(saidOfApply(stage.github, TEAM)).toMatchObject({ conclusion: 'success' })
    expect(writes()).toBe(before)
  })
})
