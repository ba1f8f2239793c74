import { afterAll, beforeAll, expect, test } from 'vitest'
import { CHECK_NAME, checkNameOf } from '../../../src/verdict/check-names.ts'
import { type Stage, startStage } from '../story/stage.ts'
import { deploymentFile } from '../story/tenant-changes.ts'
import { DEV, IN_BASE, openDev, withResource } from './red-together.ts'
import { followOnProduction } from './two-bases.ts'

const violating = {
  'staging/kustomization.yaml': withResource('staging/kustomization.yaml', 'web.yaml'),
  'staging/web.yaml': deploymentFile('web', 'kube-system'),
}

let stage: Stage
beforeAll(async () => {
  stage = await startStage()
  await stage.settle()
})
afterAll(() => stage?.close())

const runsOf = (branch: string) => stage.github.checkRunsOf(DEV, branch).filter(({ name }) => name === CHECK_NAME)

function suiteOf(branch: string) {
  const repository = stage.github.world.repositories.get(DEV)
  return repository!.checkSuites.get(runsOf(branch).at(-1)!.suite)!
}

const verdicts = { success: IN_BASE, failure: violating } as const

for (const [conclusion, files] of Object.entries(verdicts)) {
  test(`a check that is asked for once more completes again, with the same ${conclusion}`, async () => {
    const { github } = stage
    openDev(github, conclusion, files)
    await stage.settle()
    const [first] = runsOf(conclusion)
    github.rerequest(DEV, first!.id, { as: 'dora' })
    expect(suiteOf(conclusion).status).toBe('queued')
    await stage.settle()
    expect(runsOf(conclusion)).toMatchObject([{ id: first!.id }, { status: 'completed', conclusion }])
    expect(runsOf(conclusion)[1]!.annotations).toEqual(first!.annotations)
    expect(suiteOf(conclusion)).toMatchObject({ status: 'completed', conclusion })

    github.rerequestSuite(DEV, suiteOf(conclusion).id, { as: 'dora' })
    await stage.settle()
    expect(runsOf(conclusion)).toHaveLength(3)
    expect(suiteOf(conclusion)).toMatchObject({ status: 'completed', conclusion })

    const time = /\n\nEvaluated again on request at 20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ\.$/
    github.pressAction(DEV, runsOf(conclusion)[2]!.id, 'evaluate', { as: 'dora' })
    await stage.settle()
    expect(runsOf(conclusion), 'the button').toHaveLength(4)
    expect(runsOf(conclusion)[3]).toMatchObject({ conclusion, output: { summary: expect.stringMatching(time) } })
  }, 60_000)
}

test('of a head with two bases the checks of both complete again; who does not press gets none', async () => {
  const { github } = stage
  await followOnProduction(stage, 'stable')
  const pull = openDev(github, 'shared', violating)
  github.openPullRequest({ repo: DEV, head: 'shared', base: 'stable', as: 'dora' })
  await stage.settle()
  const runs = () => github.checkRunsOf(DEV, 'shared')
  const latest = () => new Map(runs().map(({ name, id, conclusion }) => [name, { id, conclusion }]))
  const before = latest()
  expect([...before.keys()]).toEqual(expect.arrayContaining([CHECK_NAME, checkNameOf('stable')]))
  const count = runs().length
  const installation = [...github.world.installations.values()][0]!.id
  await stage.site.queue.add('validate-pull-request', { installation, owner: 'acme', repo: 'dev-team', pull })
  await stage.settle()
  expect(runs()).toHaveLength(count)
  github.rerequest(DEV, before.get(checkNameOf('stable'))!.id, { as: 'dora' })
  await stage.settle()
  for (const [name, { id, conclusion }] of before) {
    expect(latest().get(name)).toMatchObject({ conclusion })
    expect(latest().get(name)!.id, name).toBeGreaterThan(id)
  }
}, 60_000)
