import { afterAll, beforeAll, expect, test } from 'vitest'
import { fleetFiles } from '../../fleet/fleets/read-fleet.ts'
import { type Stage, startStage } from '../story/stage.ts'
import { command, giveRoles, lastRun, nextSecond, proposed } from './commands.ts'

const REPO = 'acme/fleet'

let stage: Stage
beforeAll(async () => {
  stage = await startStage()
  await stage.settle()
}, 60_000)
afterAll(() => stage?.close())

/** A pull request of one file; its number. */
const propose = (branch: string, path: string, as: string, text = '# nothing\n') =>
  proposed(stage, { repo: REPO, branch, files: { [path]: text }, as })

const runOf = (branch: string) => lastRun(stage.github, REPO, branch)

const GUARDED: readonly [branch: string, path: string, rule: string][] = [
  ['config', '.github/bailiwick.yaml', 'gate-config-change'],
  ['baseline', '.github/bailiwick-baseline.yaml', 'gate-config-change'],
  ['owners', '.github/CODEOWNERS', 'gate-config-change'],
  ['owners-above', 'CODEOWNERS', 'gate-config-change'],
  ['workflow', '.github/workflows/deploy.yaml', 'gate-workflow-change'],
]

test.for(GUARDED)(
  '%s waits until a fleet admin agrees to this head',
  { timeout: 60_000 },
  async ([branch, path, rule]) => {
    const text = path.endsWith('baseline.yaml')
      ? 'violations: []\n'
      : path.endsWith('bailiwick.yaml')
        ? 'profile: baseline\n'
        : '* @acme\n'
    const pull = await propose(branch, path, 'otto', text)
    expect(runOf(branch)).toMatchObject({ status: 'completed', conclusion: 'failure' })
    expect(runOf(branch)?.output.summary).toContain(rule)
    stage.github.review({ repo: REPO, pull, state: 'APPROVED', as: 'mallory' })
    await stage.settle()
    expect(runOf(branch)?.conclusion).toBe('failure')
    stage.github.review({ repo: REPO, pull, state: 'APPROVED', as: 'ada' })
    await stage.settle()
    expect(runOf(branch)?.conclusion).toBe('success')
    stage.github.push({ repo: REPO, branch, files: { 'README.md': 'other\n' }, as: 'otto' })
    await stage.settle()
    expect(runOf(branch)?.conclusion).toBe('failure')
  },
)

test('what a fleet admin opened and pushed waits for nobody; what another one pushed to it does', async () => {
  await propose('own', 'CODEOWNERS', 'ada')
  expect(runOf('own')?.conclusion).toBe('success')
  stage.github.push({ repo: REPO, branch: 'own', files: { CODEOWNERS: '* @otto\n' }, as: 'otto' })
  await stage.settle()
  expect(runOf('own')?.conclusion).toBe('failure')
})

test('a fork waits for a maintainer where the fleet says so, and for the one of this head', async () => {
  const { github } = stage
  const [repo, fork] = ['acme/dev-team', 'mallory/dev-team']
  github.push({ repo: REPO, branch: 'main', files: { '.github/bailiwick.yaml': 'forks: approve\n' }, as: 'ada' })
  github.addRepository({ owner: 'mallory', name: 'dev-team', forkOf: repo })
  const files = { 'base/note.yaml': 'a: 1\n' }
  const pull = github.propose({ repo, branch: 'idea', headRepo: fork, files, as: 'mallory' })
  await stage.settle()
  const run = () => github.checkRunsOf(repo, `refs/pull/${pull}/head`).at(-1)
  expect(run()).toMatchObject({ status: 'completed', conclusion: 'failure' })
  expect(run()?.output.summary).toContain('gate-fork-untrusted')
  github.review({ repo, pull, state: 'APPROVED', as: 'dora' })
  await stage.settle()
  expect(run()?.conclusion).toBe('success')
}, 60_000)

const REMOTE = 'https://raw.githubusercontent.com/acme/crds/v1/crds.yaml'
const INFRASTRUCTURE = 'infrastructure/kustomization.yaml'

/** Clusters whose Flux may fetch remote files for the platform. */
function withRemoteBases(): Record<string, string> {
  const paths = ['staging', 'production'].map(name => `clusters/${name}/flux-system/kustomization.yaml`)
  return Object.fromEntries(
    paths.map(path => [path, fleetFiles(REPO)[path]!.replace('--no-remote-bases=true', '--no-remote-bases=false')]),
  )
}

test('a new remote file of the platform waits for a fleet admin, by the same door; once it is there it asks nobody', async () => {
  const { github } = stage
  github.push({ repo: REPO, branch: 'main', files: withRemoteBases(), as: 'ada' })
  await stage.settle()
  const text = fleetFiles(REPO)[INFRASTRUCTURE]!
  const pull = await propose(
    'remote',
    INFRASTRUCTURE,
    'otto',
    text.replace('resources:\n', `resources:\n  - ${REMOTE}\n`),
  )
  expect(runOf('remote')).toMatchObject({ status: 'completed', conclusion: 'failure' })
  expect(runOf('remote')?.output.title).toBe('Approval required: a fleet admin must approve this commit')
  expect(runOf('remote')?.output.summary).toMatch(
    /infrastructure\/kustomization.yaml.* names the remote file .*https:\/\/raw.*which is new here and is not evaluated/,
  )
  github.review({ repo: REPO, pull, state: 'APPROVED', as: 'mallory' })
  await stage.settle()
  expect(runOf('remote')?.conclusion).toBe('failure')
  github.review({ repo: REPO, pull, state: 'APPROVED', as: 'ada' })
  await stage.settle()
  expect(runOf('remote')).toMatchObject({ conclusion: 'success' })
  expect(runOf('remote')?.output.title).toMatch(/^Passed; 1 remote file not visible/)
  github.push({ repo: REPO, branch: 'remote', files: { 'README.md': 'other\n' }, as: 'otto' })
  await stage.settle()
  expect(runOf('remote')?.conclusion).toBe('failure')
  github.review({ repo: REPO, pull, state: 'APPROVED', as: 'ada' })
  await stage.settle()
  expect(github.merge({ repo: REPO, pull, as: 'ada' })).toMatchObject({ status: 200 })
  await stage.settle()
  await propose('beside', 'docs/beside.md', 'otto')
  expect(runOf('beside')?.conclusion).toBe('success')
  const files = { [INFRASTRUCTURE]: text.replace('resources:\n', `resources:\n  - ${REMOTE.replace('v1', 'v2')}\n`) }
  github.propose({ repo: REPO, branch: 'changed', files, as: 'otto' })
  await stage.settle()
  expect(runOf('changed')?.output.title).toMatch(/^Approval required: /)
}, 60_000)

const UNSEEN = `apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: infra-configs, namespace: flux-system}
spec: {interval: 5m, prune: true, path: ./configs, serviceAccountName: kustomize-controller, sourceRef: {kind: GitRepository, name: by-hand}}
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: elsewhere, namespace: flux-system}
spec: {interval: 5m, prune: true, path: ./not-in-this-repository, serviceAccountName: kustomize-controller, sourceRef: {kind: GitRepository, name: by-hand}}
`
const BINDING = `apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: admins}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: cluster-admin}
subjects: [{kind: ServiceAccount, name: dev-team, namespace: apps}]
`

test('a file that what is not visible may apply waits for a fleet admin, who says so even of their own change', async () => {
  const { github } = stage
  const base = { 'clusters/staging/unseen.yaml': UNSEEN }
  github.push({ repo: REPO, branch: 'main', files: base, as: 'ada' })
  await stage.settle()
  const say = async (pull: number, as: string, body: string) => {
    await nextSecond()
    return command(stage, { repo: REPO, issue: pull, as, body })
  }

  const ottos = await propose('planted', 'configs/a.yaml', 'otto', BINDING)
  expect(runOf('planted')).toMatchObject({ conclusion: 'failure' })
  expect(runOf('planted')?.output.title).toBe('Approval required: 1 changed file was not checked')
  expect(runOf('planted')?.output.summary).toContain('Kustomization `infra-configs` is not visible')
  expect((await say(ottos, 'otto', '/bailiwick approve')).reactions).toEqual(['-1'])
  expect((await say(ottos, 'ada', '/bailiwick approve abcdef1')).replies[0]).toContain('is not the head')
  expect((await say(ottos, 'ada', '/bailiwick approve')).reactions).toContain('rocket')
  expect(runOf('planted')).toMatchObject({ conclusion: 'success' })
  // it is never read as if it was evaluated
  expect(runOf('planted')?.output.title).toContain('1 changed file not checked')
  expect(lastRun(github, REPO, 'planted', 'bailiwick / approve')?.output.summary).toContain('ada')
  github.push({ repo: REPO, branch: 'planted', files: { 'configs/b.yaml': BINDING }, as: 'otto' })
  await stage.settle()
  expect(runOf('planted')?.output.title).toContain('Approval required: 2 changed files were not checked')

  const adas = await propose('own-planted', 'configs/c.yaml', 'ada', BINDING)
  expect(runOf('own-planted')).toMatchObject({ conclusion: 'failure' })
  giveRoles(github, REPO, { otto: 'maintain' })
  expect((await say(adas, 'ada', '/bailiwick approve')).replies[0]).toContain('has other admins')
  giveRoles(github, REPO, { otto: 'write' })
  expect((await say(adas, 'ada', '/bailiwick approve')).reactions).toContain('rocket')
  expect(runOf('own-planted')).toMatchObject({ conclusion: 'success' })

  await propose('beside-it', 'configs/README.md', 'otto')
  expect(runOf('beside-it')).toMatchObject({ conclusion: 'success' })
  expect(runOf('beside-it')?.output.summary).toContain('1 read by nothing')
}, 60_000)
