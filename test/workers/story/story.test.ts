import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { BRANCH_CHECK_NAME, CHECK_NAME } from '../../../src/verdict/check-names.ts'
import { findAssets, NO_ASSETS } from '../../../tools/envtest/assets.ts'
import type { CheckRun } from '../../../tools/github/world.ts'
import { fleetFiles } from '../../fleet/fleets/read-fleet.ts'
import { programs } from '../../repository/runner/programs.ts'
import { guardCreations } from './guard-creations.ts'
import { live, liveStatus } from './live.ts'
import { kustomize, realBuild } from './real-build.ts'
import { type Stage, startStage } from './stage.ts'
import { CULPRIT, deploymentFile, MOVE_PATCH, overlay } from './tenant-changes.ts'

const missing = findAssets() ? undefined : NO_ASSETS
const OPS = 'system:serviceaccount:ops:ops-team'
const APPLY = 'bailiwick / apply (staging)'
// no controller fills the role of tenants here
const ONBOARD =
  '/bailiwick onboard ops-team --repo https://github.com/acme/ops-team --namespace ops --cluster staging --role cluster-admin'

// Without an API server the story is told as far as GitHub goes; what needs one says so and is counted.
describe('the whole story', () => {
  let stage: Stage
  beforeAll(async () => {
    stage = await startStage({ clusters: missing ? [] : ['staging', 'production'] })
    await stage.settle()
  })
  afterAll(() => stage?.close())

  const run = (repo: string, ref: string, name: string = CHECK_NAME): CheckRun => {
    const found = stage.github.checkRunsOf(repo, ref).filter(one => one.name === name)
    if (found.length === 0) throw new Error(`${repo}@${ref} has no check run ${name}`)
    return found.at(-1)!
  }
  const staging = () => stage.clusters.staging!
  const deployment = (namespace: string, name: string) => `/apis/apps/v1/namespaces/${namespace}/deployments/${name}`

  test('a fleet that is there already is applied as its accounts when the worker starts', async ({ skip }) => {
    if (missing) return skip(missing)
    expect(run('acme/fleet', 'main', APPLY)).toMatchObject({ conclusion: 'success' })
    expect(await liveStatus(staging(), deployment('apps', 'storefront'))).toBe(200)
    expect(await liveStatus(stage.clusters.production!, deployment('apps', 'storefront'))).toBe(200)
  })

  let issue = 0
  let sticky = 0

  test('1. whoever may not onboard gets a reaction and the reason', async () => {
    const { github } = stage
    issue = github.issue({ repo: 'acme/fleet', title: 'A team for operations', as: 'ada' }).number
    github.comment({ repo: 'acme/fleet', issue, as: 'otto', body: ONBOARD })
    await stage.settle()
    const comments = github.commentsOf('acme/fleet', issue)
    expect(comments).toHaveLength(2)
    expect(comments[0]!.reactions.map(reaction => reaction.content)).toEqual(['-1'])
    expect(comments[1]!.body).toContain('it needs the role maintain or admin on this repository')
    expect(github.pullRequestsOf('acme/fleet')).toEqual([])
  })

  test('1. an admin asks: a pull request appears beside the tenant that is there, and passes', async ({ annotate }) => {
    const { github } = stage
    github.comment({ repo: 'acme/fleet', issue, as: 'ada', body: ONBOARD })
    await stage.settle()
    const [pull] = github.pullRequestsOf('acme/fleet')
    expect(pull?.issue.title).toBe('Onboard tenant ops-team on staging')
    const head = pull!.head.sha
    expect(run('acme/fleet', head)).toMatchObject({ conclusion: 'success', status: 'completed' })
    expect(
      github
        .commentsOf('acme/fleet', issue)
        .at(-1)!
        .reactions.map(one => one.content),
    ).toEqual(['rocket'])
    const before = github.filesOf('acme/fleet', 'main')
    expect(github.filesOf('acme/fleet', head).filter(path => !before.includes(path))).toEqual([
      'tenants/base/ops-team/kustomization.yaml',
      'tenants/base/ops-team/rbac.yaml',
      'tenants/base/ops-team/sync.yaml',
    ])
    if (!kustomize) return annotate(`not held to the real kustomize: ${programs.kustomize.get}`)
    expect(realBuild(github, head, 'tenants/staging')).toEqual([
      ['GitRepository', 'apps', 'dev-team'],
      ['GitRepository', 'ops', 'ops-team'],
      ['Kustomization', 'apps', 'dev-team'],
      ['Kustomization', 'ops', 'ops-team'],
      ['Namespace', '', 'apps'],
      ['Namespace', '', 'ops'],
      ['RoleBinding', 'apps', 'dev-team-reconciler'],
      ['RoleBinding', 'ops', 'ops-team-reconciler'],
      ['ServiceAccount', 'apps', 'dev-team'],
      ['ServiceAccount', 'ops', 'ops-team'],
    ])
    expect(realBuild(github, head, 'tenants/production')).toEqual(realBuild(github, 'main', 'tenants/production'))
  })

  test('2. it is merged: staging has the tenant, production has not', async () => {
    const [pull] = stage.github.pullRequestsOf('acme/fleet')
    const merged = stage.github.merge({ repo: 'acme/fleet', pull: pull!.issue.number, as: 'ada' })
    expect(merged).toMatchObject({ status: 200 })
    await stage.settle()
    if (missing) return
    for (const path of [
      '/api/v1/namespaces/ops',
      '/api/v1/namespaces/ops/serviceaccounts/ops-team',
      '/apis/rbac.authorization.k8s.io/v1/namespaces/ops/rolebindings/ops-team-reconciler',
      '/apis/source.toolkit.fluxcd.io/v1/namespaces/ops/gitrepositories/ops-team',
      '/apis/kustomize.toolkit.fluxcd.io/v1/namespaces/ops/kustomizations/ops-team',
    ]) {
      expect(await liveStatus(staging(), path), path).toBe(200)
    }
    expect(await liveStatus(stage.clusters.production!, '/api/v1/namespaces/ops')).toBe(404)
    await guardCreations(staging(), 'ops', OPS)
  })

  test("3. a patch moves a Deployment into another tenant's namespace: blocked, at the line that did it", async () => {
    const { github } = stage
    const files = {
      'kustomization.yaml': overlay({ moved: true }),
      'report.yaml': deploymentFile('report'),
      'move.yaml': MOVE_PATCH,
    }
    github.push({
      repo: 'acme/ops-team',
      branch: 'report',
      parent: github.commitOf('acme/ops-team', 'main'),
      files,
      as: 'otto',
    })
    github.openPullRequest({ repo: 'acme/ops-team', head: 'report', title: 'Add the report', as: 'otto' })
    await stage.settle()
    const blocked = run('acme/ops-team', 'report')
    expect(blocked).toMatchObject({ conclusion: 'failure' })
    expect(blocked.output.title).toMatch(/^1 violation in ops-team \(staging\)/)
    expect(blocked.annotations).toHaveLength(1)
    const [annotation] = blocked.annotations
    expect({ path: annotation!.path, line: annotation!.start_line }).toEqual(CULPRIT)
    expect(annotation!.message).toContain(OPS)
    expect(annotation!.message).toContain('apps')
    expect(github.merge({ repo: 'acme/ops-team', pull: 1, as: 'otto' })).toMatchObject({ status: 405 })
    const comments = github.commentsOf('acme/ops-team', 1)
    expect(comments).toHaveLength(1)
    sticky = comments[0]!.id
    for (const word of ['namespace-confinement', OPS, 'Deployment apps/report', 'move.yaml:7', 'ops', 'Fix']) {
      expect(comments[0]!.body).toContain(word)
    }
    expect(comments[0]!.body).not.toContain('dev-team')
    expect(blocked.output.summary).not.toContain('dev-team')
  })

  test('4. it is corrected, passes, is merged: the Deployment exists, made by the account of the tenant', async () => {
    const { github } = stage
    const files = { 'kustomization.yaml': overlay({ moved: false }) }
    github.push({ repo: 'acme/ops-team', branch: 'report', files, remove: ['move.yaml'], as: 'otto' })
    await stage.settle()
    expect(run('acme/ops-team', 'report')).toMatchObject({ conclusion: 'success' })
    // nothing is wrong any more; what staging gets is still said
    const [comment, ...more] = github.commentsOf('acme/ops-team', 1)
    expect([comment?.id, more]).toEqual([sticky, []])
    expect(comment?.body).toContain('@@ Deployment ops/report: added @@')
    expect(comment?.body).not.toContain('namespace-confinement')
    expect(github.merge({ repo: 'acme/ops-team', pull: 1, as: 'otto' })).toMatchObject({ status: 200 })
    await stage.settle()
    expect(run('acme/ops-team', 'main', BRANCH_CHECK_NAME)).toMatchObject({ conclusion: 'success' })
    if (missing) return
    expect(run('acme/ops-team', 'main', APPLY)).toMatchObject({ conclusion: 'success' })
    // the API server refuses Deployments of anybody else here
    expect(await liveStatus(staging(), deployment('ops', 'report'))).toBe(200)
  })

  test('5. somebody changes the live object: it is put back', async ({ skip }) => {
    if (missing) return skip(missing)
    const patched = await staging().request(
      'PATCH',
      deployment('ops', 'report'),
      { spec: { replicas: 9 } },
      { contentType: 'application/merge-patch+json' },
    )
    expect(patched.status).toBe(200)
    await stage.site.queue.add('reconcile', { cluster: 'staging' })
    await stage.settle()
    expect(await live(staging(), deployment('ops', 'report'))).toMatchObject({ spec: { replicas: 1 } })
  })

  test('5. it is removed in git: pruned', async () => {
    const { github } = stage
    const files = { 'kustomization.yaml': fleetFiles('acme/ops-team')['kustomization.yaml']! }
    github.push({
      repo: 'acme/ops-team',
      branch: 'tidy',
      parent: github.commitOf('acme/ops-team', 'main'),
      files,
      remove: ['report.yaml'],
      as: 'otto',
    })
    const pull = github.openPullRequest({ repo: 'acme/ops-team', head: 'tidy', as: 'otto' }).issue.number
    await stage.settle()
    expect(github.merge({ repo: 'acme/ops-team', pull, as: 'otto' })).toMatchObject({ status: 200 })
    await stage.settle()
    if (missing) return
    expect(await liveStatus(staging(), deployment('ops', 'report'))).toBe(404)
    expect(await liveStatus(staging(), deployment('ops', 'dashboard'))).toBe(200)
  })

  test('6. a direct push with a violation, an empty commit on top: neither is applied, both say so; others go on', async () => {
    const { github } = stage
    const files = {
      'kustomization.yaml': overlay({ moved: true }),
      'report.yaml': deploymentFile('report'),
      'move.yaml': MOVE_PATCH,
      'base/extra.yaml': deploymentFile('extra'),
    }
    const bad = github.push({ repo: 'acme/ops-team', files, as: 'ada' })
    const empty = github.push({ repo: 'acme/ops-team', message: 'Nothing to see', as: 'ada' })
    const widget = {
      'base/widget.yaml': fleetFiles('acme/dev-team')['base/widget.yaml']!.replace(/size: \d+/, 'size: 7'),
    }
    github.push({ repo: 'acme/dev-team', files: widget, as: 'ada' })
    await stage.settle()
    for (const { sha } of [bad, empty])
      expect(run('acme/ops-team', sha, BRANCH_CHECK_NAME)).toMatchObject({ conclusion: 'failure' })
    expect(run('acme/dev-team', 'main', BRANCH_CHECK_NAME)).toMatchObject({ conclusion: 'success' })
    if (missing) return
    expect(run('acme/ops-team', empty.sha, APPLY)).toMatchObject({ conclusion: 'failure' })
    expect(run('acme/ops-team', empty.sha, APPLY).output.summary).toContain('held')
    for (const [namespace, name] of [
      ['apps', 'report'],
      ['ops', 'report'],
      ['ops', 'extra'],
    ] as const) {
      expect(await liveStatus(staging(), deployment(namespace, name))).toBe(404)
    }
    expect(await liveStatus(staging(), deployment('ops', 'dashboard'))).toBe(200)
    const banner = await live(staging(), '/apis/example.acme.dev/v1/namespaces/apps/widgets/banner')
    expect(banner).toMatchObject({ spec: { size: 7 } })
  })

  test('7. with the rule switched off the API server refuses, says so on the commit, and nothing else of that Kustomization is applied', async ({
    skip,
  }) => {
    if (missing) return skip(missing)
    const { github } = stage
    await stage.restart({ disabledRules: ['namespace-confinement'] })
    const files = {
      'kustomization.yaml': overlay({ moved: false }).replace('  - report.yaml\n', '  - report.yaml\n  - stray.yaml\n'),
      'report.yaml': deploymentFile('report'),
      'stray.yaml': deploymentFile('stray', 'sandbox'),
    }
    github.push({ repo: 'acme/ops-team', files, remove: ['move.yaml', 'base/extra.yaml'], as: 'ada' })
    await stage.settle()
    const applied = run('acme/ops-team', 'main', APPLY)
    expect(applied).toMatchObject({ conclusion: 'failure' })
    expect(applied.output.summary).toMatch(/stray" is forbidden: User "system:serviceaccount:ops:ops-team" cannot \w+/)
    expect(await liveStatus(staging(), deployment('sandbox', 'stray'))).toBe(404)
    expect(applied.output.summary).toContain('withheld `Deployment ops/report`: ')
    expect(await liveStatus(staging(), deployment('ops', 'report'))).toBe(404)
    expect(await liveStatus(staging(), deployment('ops', 'dashboard'))).toBe(200)
  })

  test('every request was one that GitHub describes', () => {
    expect(stage.github.violations).toEqual([])
    expect(stage.github.unknown).toEqual([])
  })
})
