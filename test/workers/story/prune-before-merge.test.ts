import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { CHECK_NAME } from '../../../src/verdict/check-names.ts'
import { findAssets, NO_ASSETS } from '../../../tools/envtest/assets.ts'
import { batchFiles, liveObjects, stagingOverlay } from './batch.ts'
import { said, saidOfApply } from './said.ts'
import { type Stage, startStage } from './stage.ts'

const missing = findAssets() ? undefined : NO_ASSETS
const TEAM = 'acme/dev-team'
const CONFIG = 'ConfigMap storefront-settings'

describe.skipIf(missing)(`approving a prune before the merge${missing ? ` (${missing})` : ''}`, () => {
  let stage: Stage
  beforeAll(async () => {
    stage = await startStage({ clusters: ['staging'], settings: { PRUNE_SHARE: '30' } })
    await stage.settle()
  })
  afterAll(() => stage?.close())

  const open = async (branch: string, files: Readonly<Record<string, string>>, remove: readonly string[] = []) => {
    const { github } = stage
    github.propose({ repo: TEAM, branch, files, remove, as: 'dora' })
    await stage.settle()
    return github.pullRequestsOf(TEAM).at(-1)!.issue.number
  }
  const push = async (branch: string, files: Readonly<Record<string, string>>) => {
    stage.github.push({ repo: TEAM, branch, files, as: 'dora' })
    await stage.settle()
  }
  const approve = async (issue: number, as: string, digest: string) => {
    const { github } = stage
    const { id } = github.comment({ repo: TEAM, issue, as, body: `/bailiwick approve-prune ${digest}` })
    await stage.settle()
    return github
      .commentsOf(TEAM, issue)
      .find(one => one.id === id)!
      .reactions.map(one => one.content)
  }
  const merge = async (pull: number) => {
    expect(stage.github.merge({ repo: TEAM, pull, as: 'ada' })).toMatchObject({ status: 200 })
    await stage.settle()
  }
  const check = (branch: string) => said(stage.github, TEAM, branch, CHECK_NAME)
  const text = (branch: string) => (check(branch).output.summary ?? '').replaceAll('`', '')
  const digestOf = (branch: string) => /approve-prune ([0-9a-f]{32})/.exec(text(branch))?.[1] ?? ''
  const fill = async (name: string) => {
    stage.github.push({ repo: TEAM, files: batchFiles(name), as: 'ada' })
    await stage.settle()
  }
  const empty = { 'staging/kustomization.yaml': stagingOverlay([]) }
  const own = async () => (await liveObjects(stage.clusters.staging!)).filter(one => one !== CONFIG)

  test('the check says what would be deleted, and passes', async () => {
    await fill('first')
    expect(await own()).toHaveLength(26)
    await open('empty', empty, ['staging/batch.yaml'])
    expect(check('empty')).toMatchObject({ conclusion: 'success' })
    expect(text('empty')).toContain(
      '<summary>Deletes much at once (1 Kustomization). After the merge, the worker waits',
    )
    expect(text('empty')).toMatch(/it would delete 25 of 2\d objects \(24 ConfigMap, 1 Deployment\): .* and 20 more/)
    expect(digestOf('empty')).toMatch(/^[0-9a-f]{32}$/)
    // another tenant's push would not know of it
    await open('readme', { 'README.md': '# Nothing\n' })
    expect(text('readme')).not.toContain('Deletes much')
  })

  test('a fleet admin approves, on the pull request of a tenant too; nobody else, and no other digest', async () => {
    const pull = stage.github.pullRequestsOf(TEAM)[0]!.issue.number
    const digest = digestOf('empty')
    for (const as of ['dora', 'mallory']) expect(await approve(pull, as, digest)).toEqual(['-1'])
    expect(await approve(pull, 'ada', 'f'.repeat(32))).toContain('confused')
    expect(text('empty')).not.toContain('approved these objects')
    expect(await approve(pull, 'ada', digest)).toContain('rocket')
    expect(text('empty')).toContain('ada approved these objects.')
    // the same digest on another pull request, which does not delete them
    const other = stage.github.pullRequestsOf(TEAM)[1]!.issue.number
    expect(await approve(other, 'ada', digest)).toContain('confused')
  })

  test('a push that deletes nothing else keeps it, one that deletes more revokes it', async () => {
    await push('empty', { 'README.md': '# Still empty\n' })
    expect(text('empty')).toContain('ada approved these objects.')
    const before = digestOf('empty')
    await push('empty', { 'staging/kustomization.yaml': `namePrefix: new-\n${stagingOverlay([])}` })
    expect(text('empty')).not.toContain('approved these objects')
    expect(digestOf('empty')).not.toBe(before)
    await push('empty', empty)
    expect(text('empty')).toContain('ada approved these objects.')
  })

  test('after the merge the worker deletes exactly these, and does not ask', async () => {
    await merge(stage.github.pullRequestsOf(TEAM)[0]!.issue.number)
    expect(saidOfApply(stage.github, TEAM)).toMatchObject({ conclusion: 'success' })
    expect(await own()).toEqual(['Deployment storefront'])
  })

  test('what nobody approved waits after the merge, also where the same was approved before', async () => {
    await fill('first')
    const pull = await open('again', empty, ['staging/batch.yaml'])
    expect(text('again')).not.toContain('approved these objects')
    await merge(pull)
    expect(saidOfApply(stage.github, TEAM)).toMatchObject({ conclusion: 'failure' })
    expect(await own()).toHaveLength(26)
  })
})
