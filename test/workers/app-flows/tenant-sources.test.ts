import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { BRANCH_CHECK_NAME, CHECK_NAME } from '../../../src/verdict/check-names.ts'
import type { FakeGitHub } from '../../../tools/github/start.ts'
import { type Stage, startStage } from '../story/stage.ts'
import { command, giveRoles, lastRun } from './commands.ts'
import { follower, source, urlOf, withManifest } from './private-sources.ts'
import { DEV } from './red-together.ts'

const FLEET = 'acme/fleet'
const OPS = 'acme/ops-team'
const TIMEOUT = 240_000

const configMap = (name: string, namespace: string) =>
  `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}, namespace: ${namespace}}\ndata: {word: canary-5c1e}\n`
const app = { 'deploy/app.yaml': configMap('app', 'apps'), 'second/app.yaml': configMap('app', 'ops') }

/** Rules by which nothing reaches main that our check did not pass. */
function gate(github: FakeGitHub, repo: string): void {
  const reviews = { allowed_merge_methods: ['merge', 'squash', 'rebase'] as ('merge' | 'squash' | 'rebase')[] }
  const checks = [{ context: CHECK_NAME, integration_id: github.app.id }]
  github.setRuleset(repo, {
    name: 'gate',
    rules: [
      { type: 'deletion' },
      { type: 'non_fast_forward' },
      {
        type: 'pull_request',
        parameters: {
          ...reviews,
          dismiss_stale_reviews_on_push: false,
          require_code_owner_review: false,
          require_last_push_approval: false,
          required_approving_review_count: 0,
          required_review_thread_resolution: false,
        },
      },
      {
        type: 'required_status_checks',
        parameters: { required_status_checks: checks, strict_required_status_checks_policy: true },
      },
    ],
  })
}

/** ops-team, whom the platform gives the namespace ops on staging. */
const opsTeam = `apiVersion: v1
kind: Namespace
metadata: {name: ops, labels: {toolkit.fluxcd.io/tenant: ops-team}}
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: ops-team, namespace: ops}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: ops-team, namespace: ops}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: cluster-admin}
subjects: [{kind: ServiceAccount, name: ops-team, namespace: ops}]
---
apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {name: ops-team, namespace: ops}
spec: {interval: 1m, url: https://github.com/acme/ops-team, ref: {branch: main}}
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: ops-team, namespace: ops}
spec:
  serviceAccountName: ops-team
  interval: 5m
  path: ./apps
  prune: true
  sourceRef: {kind: GitRepository, name: ops-team}
`

let stage: Stage
beforeAll(async () => {
  stage = await startStage({
    prepare: github => {
      const add = (name: string, roles: Record<string, 'admin' | 'read'>, isPrivate = true) =>
        github.addRepository({ owner: 'acme', name, files: app, roles, private: isPrivate })
      add('gated', { dora: 'admin', otto: 'read' })
      add('open', { dora: 'read' })
      add('own', { dora: 'admin' })
      add('closed', {})
      github.addOrganization('strangers')
      github.addRepository({ owner: 'strangers', name: 'app', files: app, private: false, roles: { ada: 'write' } })
      gate(github, 'acme/gated')
      github.push({ repo: FLEET, files: { 'clusters/staging/ops-team.yaml': opsTeam }, as: 'ada' })
      github.push({ repo: OPS, files: { 'apps/x.yaml': configMap('x', 'ops') }, as: 'ada' })
      giveRoles(github, OPS, { otto: 'write' })
    },
  })
  await stage.settle()
}, TIMEOUT)
afterAll(() => stage?.close())

let number = 0

/** A pull request with these files; its branch and number. */
async function propose(repo: string, as: string, files: Readonly<Record<string, string>>) {
  const { github } = stage
  const branch = `change-${++number}`
  const pull = github.propose({ repo, branch, files, as })
  await stage.settle()
  return { branch, pull, run: () => lastRun(github, repo, branch) }
}

async function merge(repo: string, pull: number, as: string): Promise<void> {
  expect(stage.github.merge({ repo, pull, as })).toMatchObject({ status: 200 })
  await stage.settle()
}

const declaring = (name: string, url = urlOf(name)) => withManifest(source(name, url) + follower(name))

/** A fleet admin approves the present head of a pull request. */
async function approve(repo: string, pull: number): Promise<void> {
  stage.github.review({ repo, pull, as: 'ada' })
  await stage.settle()
}

describe('same organization, gated, and brought by who administers it', () => {
  test(
    'it passes without an approval, and from the merge on its pull requests are evaluated',
    async () => {
      const { github } = stage
      const { run, pull } = await propose(DEV, 'dora', declaring('gated'))
      expect(run()).toMatchObject({ conclusion: 'success' })
      await merge(DEV, pull, 'dora')
      const bad = await propose('acme/gated', 'dora', { 'deploy/app.yaml': configMap('app', 'kube-system') })
      expect(bad.run()).toMatchObject({ conclusion: 'failure' })
      expect(bad.run()?.output.summary).toContain('namespace-confinement')
      expect(github.merge({ repo: 'acme/gated', pull: bad.pull, as: 'dora' }).status).toBe(405)
      const good = await propose('acme/gated', 'dora', { 'deploy/app.yaml': configMap('better', 'apps') })
      expect(good.run()).toMatchObject({ conclusion: 'success' })
    },
    TIMEOUT,
  )

  test(
    'what it breaks is found in the pull request that declares it',
    async () => {
      const files = withManifest(source('again', urlOf('gated')) + follower('again', './second'))
      const run = (await propose(DEV, 'dora', files)).run()
      expect(run).toMatchObject({ conclusion: 'failure' })
      expect(run?.output.summary).toContain('namespace-confinement')
    },
    TIMEOUT,
  )

  test(
    'a second tenant who declares it needs an approval, and blocks and publishes nothing there',
    async () => {
      const { github } = stage
      const manifest = (source('gated', urlOf('gated')) + follower('gated', './second'))
        .replaceAll('namespace: apps', 'namespace: ops')
        .replace('serviceAccountName: dev-team', 'serviceAccountName: ops-team')
      const { run, pull } = await propose(OPS, 'otto', { 'apps/gated.yaml': manifest })
      expect(run()).toMatchObject({ conclusion: 'failure' })
      expect(run()?.output.title).toContain('pproval')
      await approve(OPS, pull)
      expect(run()).toMatchObject({ conclusion: 'success' })
      await merge(OPS, pull, 'otto')
      const bad = await propose('acme/gated', 'dora', { 'second/app.yaml': configMap('app', 'kube-system') })
      expect(bad.run()).toMatchObject({ conclusion: 'success' })
      expect(JSON.stringify(bad.run()?.output)).not.toMatch(/ops|another tenant|not visible/)
      expect(github.checkRunsOf('acme/gated', 'main').filter(one => one.conclusion !== 'success')).toEqual([])
    },
    TIMEOUT,
  )
})

describe('same organization, not gated', () => {
  test(
    'it needs one approval; its pull requests are its own, and a push that misbehaves is reported on the fleet',
    async () => {
      const { github } = stage
      const { run, pull } = await propose(DEV, 'dora', declaring('open'))
      expect(run()).toMatchObject({ conclusion: 'failure' })
      expect(run()?.output.summary).toContain('requires the check')
      await approve(DEV, pull)
      expect(run()).toMatchObject({ conclusion: 'success' })
      await merge(DEV, pull, 'dora')
      github.repositoryNamed('acme/open').private = false
      github.push({ repo: 'acme/open', files: { 'deploy/app.yaml': configMap('app', 'kube-system') }, as: 'ada' })
      await stage.settle()
      expect(github.repositoryNamed('acme/open').checkRuns).toEqual([])
      expect(lastRun(github, FLEET, 'main', BRANCH_CHECK_NAME)).toMatchObject({ conclusion: 'failure' })
      github.push({ repo: 'acme/open', files: app, as: 'ada' })
      await stage.settle()
      expect(lastRun(github, FLEET, 'main', BRANCH_CHECK_NAME)).toMatchObject({ conclusion: 'success' })
    },
    TIMEOUT,
  )

  test(
    'where an admin of it declares it, a push that misbehaves is reported there',
    async () => {
      const { github } = stage
      const { run, pull } = await propose(DEV, 'dora', declaring('own'))
      expect(run()).toMatchObject({ conclusion: 'failure' })
      await approve(DEV, pull)
      await merge(DEV, pull, 'dora')
      github.push({ repo: 'acme/own', files: { 'deploy/app.yaml': configMap('app', 'kube-system') }, as: 'dora' })
      await stage.settle()
      expect(lastRun(github, 'acme/own', 'main', BRANCH_CHECK_NAME)).toMatchObject({ conclusion: 'failure' })
      github.push({ repo: 'acme/own', files: app, as: 'dora' })
      await stage.settle()
    },
    TIMEOUT,
  )
})

describe('not readable', () => {
  test.each([
    ['a repository of the organization', 'closed', urlOf('closed'), 'acme/closed'],
    ["a stranger's repository", 'stranger', 'https://github.com/strangers/app', 'strangers/app'],
  ])(
    '%s needs an approval, nothing of it is shown, and nothing is published there when it misbehaves',
    async (_, name, url, repo) => {
      const { github } = stage
      const { run, pull } = await propose(DEV, 'dora', declaring(name, url))
      expect(run()).toMatchObject({ conclusion: 'failure' })
      expect(JSON.stringify(run()?.output)).not.toContain('canary-5c1e')
      expect(run()?.output.summary).toContain('not visible')
      await approve(DEV, pull)
      expect(run()).toMatchObject({ conclusion: 'success' })
      expect(run()?.output.summary).toContain('not visible')
      await merge(DEV, pull, 'dora')
      github.push({ repo, files: { 'deploy/app.yaml': configMap('app', 'kube-system') }, as: 'ada' })
      await stage.settle()
      expect(github.repositoryNamed(repo).checkRuns).toEqual([])
      const onMain = lastRun(github, DEV, 'main', BRANCH_CHECK_NAME)
      expect(onMain).toMatchObject({ conclusion: 'success' })
      expect(onMain?.output.summary).toContain('not visible')
    },
    TIMEOUT,
  )

  test(
    '/bailiwick approve-source lists it for good',
    async () => {
      const { github } = stage
      const { run, pull } = await propose(DEV, 'dora', declaring('closed'))
      expect(
        (await command(stage, { repo: DEV, issue: pull, as: 'dora', body: '/bailiwick approve-source' })).reactions,
      ).toEqual(['-1'])
      const { reactions } = await command(stage, {
        repo: DEV,
        issue: pull,
        as: 'ada',
        body: '/bailiwick approve-source',
      })
      expect(reactions).toEqual(['eyes', 'rocket'])
      const opened = github.pullRequestsOf(FLEET).find(one => one.head.ref.startsWith('bailiwick/approve-source-'))
      expect(github.readFile(FLEET, opened!.head.sha, '.github/bailiwick.yaml')).toContain(`url: "${urlOf('closed')}"`)
      await merge(FLEET, opened!.issue.number, 'ada')
      await command(stage, { repo: DEV, issue: pull, as: 'ada', body: '/bailiwick check' })
      expect(run()).toMatchObject({ conclusion: 'success' })
    },
    TIMEOUT,
  )
})
