import { afterEach, describe, expect, test } from 'vitest'
import { readDesignationMarker } from '../../../src/github/designate.ts'
import type { FakeGitHub } from '../../../tools/github/start.ts'
import { fleetFiles } from '../../fleet/fleets/read-fleet.ts'
import { propose, said } from '../story/said.ts'
import { type Stage, type StageOptions, startStage } from '../story/stage.ts'
import { deploymentFile } from '../story/tenant-changes.ts'
import { command } from './commands.ts'
import { withResource } from './red-together.ts'
import { reportOf, reportsOf, surveyAgain } from './survey.ts'

const FLEET = 'acme/fleet'
const DEV = 'acme/dev-team'
const OPS = 'acme/ops-team'
const straying = (name: string) => ({
  'staging/kustomization.yaml': withResource('staging/kustomization.yaml', `${name}.yaml`),
  [`staging/${name}.yaml`]: deploymentFile(name, 'kube-system'),
})
/** The fleet of somebody else, who calls every tenant's repository a source of theirs. */
const impostor = Object.fromEntries(
  Object.entries(fleetFiles(FLEET)).map(([path, text]) => [
    path,
    text.replaceAll('https://github.com/acme/fleet', 'https://github.com/acme/evil').replaceAll('apps', 'jail'),
  ]),
)
const addImpostor = (github: FakeGitHub) =>
  void github.addRepository({ owner: 'acme', name: 'evil', files: impostor, roles: { mallory: 'admin' } })

let stage: Stage
afterEach(() => stage?.close())

async function start(options: StageOptions = {}): Promise<FakeGitHub> {
  stage = await startStage({ ...options, settings: { CLUSTERS_FILE: undefined, ...options.settings } })
  await stage.settle()
  return stage.github
}

let proposed = 0
/** Proposes what is harmless in dev-team's own namespace, and what a fleet that gives them another one refuses. */
function harmless() {
  const name = `harmless-${++proposed}`
  const list = fleetFiles(DEV)['base/kustomization.yaml']!
  const files = {
    'base/kustomization.yaml': list.replace('resources:\n', `resources:\n  - ${name}.yaml\n`),
    [`base/${name}.yaml`]: deploymentFile(name, 'apps'),
  }
  return propose(stage, { repo: DEV, branch: name, files })
}
const hostile = () => propose(stage, { repo: DEV, branch: `hostile-${++proposed}`, files: straying(`p${proposed}`) })
const recordOf = (repo: string) => readDesignationMarker(reportOf(stage.github, repo).body, stage.github.app.privateKey)
const idOf = (repo: string) => stage.github.repositoryNamed(repo).id

/** What an owner does where the first report asks for it. */
async function designateFleet(github: FakeGitHub): Promise<void> {
  const { number } = reportOf(github, FLEET)
  const asked = { repo: FLEET, issue: number, as: 'ada', body: '/bailiwick designate' }
  expect(await command(stage, asked)).toMatchObject({ reactions: ['eyes', 'rocket'] })
  await stage.settle()
}

describe('with no word of operator and organization', () => {
  test('the only candidate waits for an owner; whoever comes later changes nothing for others', async () => {
    const github = await start()
    const { body } = reportOf(github, FLEET)
    expect(body).toContain('### Not designated')
    expect(body).toContain('an owner of the organization comments `/bailiwick designate` on this issue')
    expect(body).not.toContain('Other repositories')
    expect(recordOf(FLEET)).toBeUndefined()
    expect((await harmless()).output.summary).toContain('fleet-undesignated')
    await designateFleet(github)
    expect(reportOf(github, FLEET).body).not.toContain('### Not designated')
    expect(recordOf(FLEET)).toMatchObject({ state: 'designated', by: 'owner', fleets: [{ repository: idOf(FLEET) }] })
    expect(await hostile()).toMatchObject({ conclusion: 'failure' })
    addImpostor(github)
    github.push({ repo: OPS, files: { 'clusters/staging/x.yaml': 'x: 1\n' }, as: 'ada' })
    await stage.settle()
    await surveyAgain(stage)
    expect(reportsOf(github, 'acme/evil')).toEqual([])
    const run = await harmless()
    expect(run).toMatchObject({ conclusion: 'success' })
    expect(JSON.stringify(run.output)).not.toContain('jail')
    expect(await hostile()).toMatchObject({ conclusion: 'failure' })
    // the process forgets everything; the fleet loses its directory; somebody edits the report
    github.push({ repo: FLEET, files: { 'README.md': 'moved\n' }, remove: Object.keys(fleetFiles(FLEET)), as: 'ada' })
    await stage.restart()
    await stage.settle()
    expect(await harmless(), 'nobody takes its place').not.toMatchObject({
      conclusion: 'failure',
      output: { summary: /jail/ },
    })
  }, 120_000)

  test('a record that somebody wrote or changed is none', async () => {
    const github = await start()
    await designateFleet(github)
    const { number, body } = reportOf(github, FLEET)
    addImpostor(github)
    const forged = body.replace(
      /designation [\w-]+\./,
      `designation ${Buffer.from(JSON.stringify({ ...recordOf(FLEET), fleets: [{ repository: idOf('acme/evil') }] })).toString('base64url')}.`,
    )
    github.editIssue({ repo: FLEET, issue: number, body: forged, as: 'otto' })
    github.issue({ repo: 'acme/evil', title: 'Bailiwick', body: body, as: 'mallory' })
    await stage.restart()
    await stage.settle()
    const run = await harmless()
    expect(run.output.summary).toContain('fleet-undesignated')
    expect(run.output.summary).not.toContain('jail')
    await designateFleet(github)
    expect(await harmless()).toMatchObject({ conclusion: 'success' })
    expect(await hostile()).toMatchObject({ conclusion: 'failure' })
  }, 120_000)

  test('of several none evaluates others until an owner designates one', async () => {
    const github = await start({ prepare: addImpostor })
    for (const repo of [FLEET, 'acme/evil']) {
      expect(reportOf(github, repo).body).toContain('### Not designated')
      expect(reportOf(github, repo).body).toContain('/bailiwick designate')
      expect(reportOf(github, repo).body).toContain('Other repositories look like a fleet, too.')
      expect(recordOf(repo)).toBeUndefined()
    }
    expect(reportOf(github, 'acme/evil').body, 'names nobody else').not.toContain('acme/fleet')
    const undecided = await harmless()
    expect(undecided).toMatchObject({ conclusion: 'failure' })
    expect(undecided.output.summary).toContain('fleet-undesignated')
    expect(undecided.output.summary).not.toContain('evil')
    // it stays so when one of them goes, whatever is remembered
    github.push({ repo: FLEET, files: { 'README.md': 'x\n' }, remove: Object.keys(fleetFiles(FLEET)), as: 'ada' })
    await stage.restart()
    await stage.settle()
    expect((await harmless()).output.summary).toContain('fleet-undesignated')
    github.push({ repo: FLEET, files: fleetFiles(FLEET), as: 'ada' })
    await stage.settle()

    const { number } = reportOf(github, 'acme/evil')
    expect(
      await command(stage, { repo: 'acme/evil', issue: number, as: 'mallory', body: '/bailiwick designate' }),
    ).toMatchObject({ reactions: ['-1'] })
    expect((await harmless()).output.summary).toContain('fleet-undesignated')
    const report = reportOf(github, FLEET).number
    expect(await command(stage, { repo: FLEET, issue: report, as: 'ada', body: '/bailiwick designate' })).toMatchObject(
      { reactions: ['eyes', 'rocket'] },
    )
    await stage.settle()
    expect(recordOf(FLEET)).toMatchObject({ state: 'designated', by: 'owner', generation: 1 })
    expect(reportOf(github, FLEET).body).not.toContain('### Not designated')
    expect(await hostile()).toMatchObject({ conclusion: 'failure' })
    const run = await harmless()
    expect(run).toMatchObject({ conclusion: 'success' })
    expect(said(github, DEV, `harmless-${proposed - 2}`), 'what waited is evaluated').toMatchObject({
      conclusion: 'success',
    })
  }, 180_000)

  test('a fleet of another layout is a candidate as well, and no repository that only names Flux is', async () => {
    const moved = Object.entries(fleetFiles(FLEET)).map(([path, text]) => {
      const rename = (words: string) => words.replaceAll('clusters/', 'environments/live/')
      return [rename(path), rename(text)] as const
    })
    const github = await start({
      prepare: server => {
        const remove = Object.keys(fleetFiles(FLEET)).filter(path => path.startsWith('clusters/'))
        server.push({ repo: FLEET, files: Object.fromEntries(moved), remove, as: 'ada' })
        const files = { 'docs/flux-system/notes.yaml': 'clusters: none\n' }
        server.addRepository({ owner: 'acme', name: 'handbook', files, roles: { ada: 'admin' } })
        // git has the path, and no tree of it is read
        server.addRepository({
          owner: 'acme',
          name: 'odd',
          files: { 'flux/\ufffd.yaml': '' },
          roles: { otto: 'admin' },
        })
      },
    })
    expect(reportOf(github, FLEET).body).toContain('### Not designated')
    for (const repo of [DEV, OPS, 'acme/handbook']) expect(reportsOf(github, repo), repo).toEqual([])
    expect((await hostile()).output.summary).toContain('fleet-undesignated')
    await designateFleet(github)
    expect(await harmless()).toMatchObject({ conclusion: 'success' })
    expect(await hostile()).toMatchObject({ conclusion: 'failure' })
  }, 120_000)

  test('a fleet that comes after the App gets the first report, which says how to designate it', async () => {
    const github = await start({
      prepare: server => {
        const repository = server.repositoryNamed(FLEET)
        repository.refs.clear()
        server.push({ repo: FLEET, files: { 'README.md': 'x\n' }, as: 'ada' })
      },
    })
    expect(reportsOf(github, FLEET)).toEqual([])
    const issue = github.issue({ repo: FLEET, title: 'Gate?', as: 'ada' }).number
    expect(await command(stage, { repo: FLEET, issue, as: 'ada', body: '/bailiwick gate' })).toEqual({
      reactions: ['-1'],
      replies: [expect.stringMatching(/no fleet is designated[\s\S]*comments `\/bailiwick designate`/)],
    })
    github.push({ repo: FLEET, files: fleetFiles(FLEET), as: 'ada' })
    await stage.settle()
    expect(reportOf(github, FLEET).body).toContain('### Not designated')
    const undecided = await hostile()
    expect(undecided).toMatchObject({ conclusion: 'failure' })
    expect(undecided.output.summary).toContain('An owner of the organization comments')
    await designateFleet(github)
    expect(await hostile()).toMatchObject({ conclusion: 'failure' })
    expect(await harmless()).toMatchObject({ conclusion: 'success' })
  }, 120_000)
})

describe('the .github repository of the organization', () => {
  const file = (repo: string) => ({ 'bailiwick.yaml': `fleets:\n  - ${repo}\n` })
  const addOrganization = (github: FakeGitHub, files: Record<string, string>) =>
    void github.addRepository({ owner: 'acme', name: '.github', files, roles: { mallory: 'write' } })

  test('designates; a change counts when an owner confirms it, and its loss changes nothing', async () => {
    const github = await start({
      prepare: server => {
        addImpostor(server)
        addOrganization(server, file(FLEET))
      },
    })
    expect(await hostile()).toMatchObject({ conclusion: 'failure' })
    expect(await harmless()).toMatchObject({ conclusion: 'success' })
    expect(recordOf(FLEET)).toMatchObject({ by: 'organization' })
    github.push({ repo: 'acme/.github', files: file('acme/evil'), as: 'mallory' })
    await stage.settle()
    await surveyAgain(stage)
    expect(reportOf(github, FLEET).body).toContain('### Designation to be confirmed')
    expect(await harmless(), 'not yet').toMatchObject({ conclusion: 'success' })
    const issue = github.issue({ repo: 'acme/evil', title: 'Mine', body: 'x', as: 'mallory' }).number
    expect(
      await command(stage, { repo: 'acme/evil', issue, as: 'mallory', body: '/bailiwick designate' }),
    ).toMatchObject({ reactions: ['-1'] })
    expect(await harmless(), 'not by its admin').toMatchObject({ conclusion: 'success' })
    for (const files of [{ 'bailiwick.yaml': 'fleets: [' }, { 'bailiwick.yaml': 'fleets: [acme/nowhere]\n' }]) {
      github.push({ repo: 'acme/.github', files, as: 'mallory' })
      await stage.restart()
      await stage.settle()
      expect(await hostile(), 'the last designation stands').toMatchObject({ conclusion: 'failure' })
    }
    github.push({ repo: 'acme/.github', files: file('acme/evil'), as: 'mallory' })
    await stage.settle()
    expect(await command(stage, { repo: 'acme/evil', issue, as: 'ada', body: '/bailiwick designate' })).toMatchObject({
      reactions: ['eyes', 'rocket'],
    })
    await stage.settle()
    expect(recordOf('acme/evil')).toMatchObject({ by: 'owner', fleets: [{ repository: idOf('acme/evil') }] })
    expect((await propose(stage, { repo: DEV, branch: 'after', files: straying('after') })).output.summary).toContain(
      'jail',
    )
  }, 180_000)
})

test('FLEETS designates, and what it names must be readable', async () => {
  const github = await start({ prepare: addImpostor, settings: { FLEETS: 'Acme/Fleet' } })
  expect(await hostile()).toMatchObject({ conclusion: 'failure' })
  expect(await harmless()).toMatchObject({ conclusion: 'success' })
  expect(reportOf(github, FLEET).body).not.toContain('bailiwick:designation')
  github.deleteRepository(FLEET)
  await stage.settle()
  const run = await harmless()
  expect(run).toMatchObject({ conclusion: 'failure' })
  expect(run.output.summary).toContain('a designated fleet cannot be read')
}, 120_000)
