import { afterAll, beforeAll, expect, test } from 'vitest'
import { CHECK_NAME } from '../../../src/verdict/check-names.ts'
import { fleetFiles } from '../../fleet/fleets/read-fleet.ts'
import { type Stage, startStage } from '../story/stage.ts'

const REPO = 'acme/fleet'
const PATH = 'infrastructure/kustomization.yaml'

let stage: Stage
beforeAll(async () => {
  stage = await startStage()
  const { github } = stage
  const paths = ['staging', 'production'].map(name => `clusters/${name}/flux-system/kustomization.yaml`)
  const open = paths.map(path => [path, fleetFiles(REPO)[path]!.replace('-remote-bases=true', '-remote-bases=false')])
  github.push({ repo: REPO, branch: 'main', files: Object.fromEntries(open), as: 'ada' })
  github.setProtection(REPO, { checks: [{ context: CHECK_NAME, appId: github.app.id }], mergeQueue: true })
  await stage.settle()
}, 60_000)
afterAll(() => stage?.close())

function propose(branch: string, path: string, text: string): number {
  const { github } = stage
  return github.propose({ repo: REPO, branch, files: { [path]: text }, as: 'otto' })
}

test('a group behind one with an approved remote file is not asked for that approval again', async () => {
  const { github } = stage
  const text = fleetFiles(REPO)[PATH]!.replace('resources:\n', 'resources:\n  - https://example.com/crds.yaml\n')
  const remote = propose('remote', PATH, text)
  const plain = propose('plain', 'limits/note.md', '# nothing\n')
  await stage.settle()
  github.review({ repo: REPO, pull: remote, state: 'APPROVED', as: 'ada' })
  await stage.settle()
  for (const pull of [remote, plain]) github.enqueue(REPO, pull, { as: 'ada' })
  await stage.settle()
  const merged = github.pullRequestsOf(REPO).filter(one => one.merged !== undefined)
  expect(merged.map(({ issue }) => issue.number)).toEqual([remote, plain])
}, 60_000)

test('the group of a pull request whose approval is gone does not pass', async () => {
  const { github } = stage
  const text = fleetFiles(REPO)[PATH]!.replace('resources:\n', 'resources:\n  - https://example.com/other.yaml\n')
  const pull = propose('other', PATH, text)
  await stage.settle()
  github.enqueue(REPO, pull, { as: 'ada' })
  await stage.settle()
  expect(github.pullRequestsOf(REPO).find(({ issue }) => issue.number === pull)?.merged).toBeUndefined()
}, 60_000)
