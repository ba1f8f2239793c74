import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { said } from '../story/said.ts'
import { type Stage, startStage } from '../story/stage.ts'
import { command } from './commands.ts'
import { outputsOf } from './outputs.ts'
import { addPrivate, CANARY, follower, source, urlOf, withManifest, withPlatformManifest } from './private-sources.ts'
import { DEV } from './red-together.ts'

const FLEET = 'acme/fleet'

let stage: Stage
beforeAll(async () => {
  stage = await startStage()
  const { github } = stage
  addPrivate(github, 'hidden')
  addPrivate(github, 'listed')
  addPrivate(github, 'matched')
  addPrivate(github, 'declared')
  addPrivate(github, 'open', [], false)
  const file = `tenants:
  - name: dev-team
    repositories:
      - url: ${urlOf('listed')}
        id: ${github.repositoryNamed('acme/listed').id}
    allowedSources:
      - ${urlOf('dev-team')}
      - ${urlOf('match*')}
      - ${urlOf('listed')}
      - ${urlOf('declared')}
`
  github.push({
    repo: FLEET,
    files: { '.github/bailiwick.yaml': file, ...withPlatformManifest(source('declared', urlOf('declared'))) },
    as: 'ada',
  })
  await stage.settle()
}, 60_000)
afterAll(() => stage?.close())
beforeEach(() => stage.github.forget())

let number = 0

/** Dora's pull request on dev-team with these files; the check on its head, and all that was published for it. */
async function propose(files: Readonly<Record<string, string>>, repo = DEV, as = 'dora') {
  const { github } = stage
  const branch = `change-${++number}`
  const pull = github.propose({ repo, branch, files, as })
  await stage.settle()
  return { branch, pull, run: said(github, repo, branch), outputs: await outputsOf(stage) }
}

const declaring = (name: string) => withManifest(source('second', urlOf(name)) + follower('second'))

test('a private repository that nothing lists is not read for a pull request, and its content is nowhere', async () => {
  const { run, outputs, pull } = await propose(declaring('hidden'))
  expect(outputs).not.toContain(CANARY)
  expect(run).toMatchObject({ conclusion: 'failure' })
  expect(run.output.summary).toContain('has no permission to read')
  for (const body of ['/bailiwick diff', '/bailiwick status', '/bailiwick explain']) {
    const { replies } = await command(stage, { repo: DEV, issue: pull, as: 'dora', body })
    expect(replies.join()).not.toContain(CANARY)
  }
}, 60_000)

test('and one that does not exist is answered in the same words, with as many requests', async () => {
  const { github } = stage
  const look = async (name: string) => {
    github.forget()
    const { run } = await propose(declaring(name))
    const texts = [run.output.title, run.output.summary, ...run.annotations.map(({ message }) => message)]
    // whether GitHub still computes the merge is a matter of chance
    const requests = github.requests.filter(({ route }) => !route.endsWith('/pulls/{pull_number}'))
    return {
      words: texts
        .join('\n')
        .replaceAll(name, 'NAME')
        .replace(/\b[0-9a-f]{7,12}\b/g, 'ID'),
      requests: requests.map(({ method, route }) => `${method} ${route}`).sort(),
    }
  }
  addPrivate(github, 'there')
  expect(await look('wrong')).toEqual(await look('there'))
}, 60_000)

test('spec.include of a private repository is refused', async () => {
  const manifest = `${source('lent', urlOf('hidden'))}---\n${source(
    'own',
    urlOf('dev-team'),
    '  include:\n    - repository:\n        name: lent\n      toPath: lent\n',
  )}${follower('own', './lent/deploy')}`
  const { run, outputs } = await propose(withManifest(manifest))
  expect(outputs).not.toContain(CANARY)
  expect(run).toMatchObject({ conclusion: 'failure' })
}, 60_000)

test('a source that nothing follows yet is no error: the approval comes with the follower', async () => {
  const { run, outputs } = await propose(withManifest(source('second', urlOf('hidden'))))
  expect(`${run.output.title} ${run.output.summary}`).not.toContain('may not read')
  expect(outputs).not.toContain(CANARY)
}, 60_000)

test('where only the platform declares sources it is an error, and so is one that is not followed yet', async () => {
  const { github } = stage
  const path = '.github/bailiwick.yaml'
  const before = github.readFile(FLEET, 'main', path)!
  github.push({ repo: FLEET, files: { [path]: `tenantSources: declared\n${before}` }, as: 'ada' })
  await stage.settle()
  const { run } = await propose(withManifest(source('second', urlOf('hidden'))))
  expect(run).toMatchObject({ conclusion: 'failure' })
  expect(run.output.summary).toContain('may not read')
  github.push({ repo: FLEET, files: { [path]: before }, as: 'ada' })
  await stage.settle()
}, 60_000)

test.each(['listed', 'matched', 'open', 'declared'])(
  'one that is %s for the tenant is read',
  async name => {
    const { run, outputs } = await propose(declaring(name))
    expect(run).toMatchObject({ conclusion: 'failure' })
    expect(run.output.summary).not.toContain('has no permission to read')
    expect(outputs).toContain(CANARY)
  },
  60_000,
)

test('the list of the fleet file counts once it is on the base, not in the change that writes it', async () => {
  const { github } = stage
  const listing = `tenants:
  - name: dev-team
    repositories:
      - url: ${urlOf('hidden')}
        id: ${github.repositoryNamed('acme/hidden').id}
`
  const files = {
    '.github/bailiwick.yaml': listing,
    ...withPlatformManifest(source('late', urlOf('hidden')) + follower('late')),
  }
  const { outputs, run } = await propose(files, FLEET, 'otto')
  expect(outputs).not.toContain(CANARY)
  expect(run.output.summary).toContain('has no permission to read')
}, 60_000)

test('a repository that only a tenant follows is not gated by it, and nothing is published there', async () => {
  const { github } = stage
  const { branch } = await propose(declaring('open'))
  github.pushRef({ repo: DEV, branch: 'main', sha: github.commitOf(DEV, branch), as: 'ada' })
  await stage.settle()
  github.push({ repo: 'acme/open', branch: 'topic', files: { 'deploy/README.md': 'x' }, as: 'ada' })
  github.openPullRequest({ repo: 'acme/open', head: 'topic', as: 'ada' })
  github.push({ repo: 'acme/open', files: { 'README.md': 'x' }, as: 'ada' })
  await stage.settle()
  expect(github.repositoryNamed('acme/open').checkRuns).toEqual([])
}, 60_000)
