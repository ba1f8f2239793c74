import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Stage, startStage } from '../story/stage.ts'
import { command, giveRoles, lastRun } from './commands.ts'

const FLEET = 'acme/fleet'
const MARKER = '<!-- bailiwick:tenant-request -->'
let stage: Stage
beforeAll(async () => {
  stage = await startStage()
  giveRoles(stage.github, FLEET, { max: 'maintain' })
  await stage.settle()
})
afterAll(() => stage?.close())

const form = (changes: Record<string, string> = {}) =>
  Object.entries({
    ...{ Tenant: 'ops-team', Repository: 'https://github.com/acme/ops-team', Team: 'acme/ops', Namespaces: 'ops' },
    ...{ Clusters: 'staging', Role: 'cluster-admin', Branch: '_No response_', Path: '_No response_', ...changes },
  })
    .map(([label, value]) => `### ${label}\n\n${value}`)
    .join('\n\n')

/** Opens an issue and waits; our answers to it. */
async function ask(as: string, body: string): Promise<{ issue: number; answers: string[] }> {
  const { number: issue } = stage.github.issue({ repo: FLEET, title: 'Tenant: ops', body, as })
  await stage.settle()
  return { issue, answers: answersOn(issue) }
}
const answersOn = (issue: number) =>
  stage.github
    .commentsOf(FLEET, issue)
    .filter(({ body }) => body.startsWith(MARKER))
    .map(({ body }) => body)
const onboardings = () =>
  stage.github
    .pullRequestsOf(FLEET)
    .filter(one => one.head.ref === 'bailiwick/onboard-ops-team' && one.issue.state === 'open')
const LINE = '/bailiwick onboard ops-team --repo https://github.com/acme/ops-team --namespace ops --cluster staging'

describe('the form for a new tenant', () => {
  test('who does not decide gets what the tenant would get, and the line that an admin copies', async () => {
    const { issue, answers } = await ask('otto', form())
    expect(answers).toHaveLength(1)
    for (const words of [
      '### What this tenant will be able to do',
      '`tenants/base/ops-team/rbac.yaml` (created)',
      LINE,
    ]) {
      expect(answers[0]).toContain(words)
    }
    expect(onboardings()).toEqual([])
    // the line works as it stands there
    expect(await command(stage, { repo: FLEET, issue, as: 'ada', body: `${LINE} --role cluster-admin` })).toEqual({
      reactions: ['rocket'],
      replies: [],
    })
    const [opened] = onboardings()
    const { sha } = opened!.head
    expect(lastRun(stage.github, FLEET, sha, 'bailiwick / approve')?.output.title).toBe('ada approves this commit')
    // what the person may read is read: the pull request of our bot is theirs
    expect(lastRun(stage.github, FLEET, sha)?.output).toMatchObject({
      title: 'Passed',
      summary: expect.not.stringContaining('source-opaque'),
    })
    stage.github.closePullRequest({ repo: FLEET, pull: opened!.issue.number, as: 'ada' })
    stage.github.pushRef({ repo: FLEET, branch: opened!.head.ref, sha: null, as: 'ada' })
    await stage.settle()
  })

  test('who does not administer the repository is told so, and so is who decides', async () => {
    for (const as of ['mallory', 'max']) {
      const { answers } = await ask(as, form())
      expect(answers).toHaveLength(1)
      expect(answers[0]).toContain('The author may not request a tenant for this repository')
    }
    expect(onboardings()).toEqual([])
  })

  test('odd input is refused, in words that do nothing', async () => {
    for (const changes of [
      { Tenant: '](https://evil.example) @acme/all' },
      { Namespaces: 'apps' },
      { Clusters: 'moon' },
    ]) {
      const { answers } = await ask('mallory', form(changes as Record<string, string>))
      expect(answers).toHaveLength(1)
      expect(answers[0]).toContain('This tenant cannot be onboarded (onboard-input)')
      expect(answers[0]).not.toMatch(/(?:^|[^`\w"\]) ]) ?@acme\/all/)
    }
    expect((await ask('otto', 'We would like to deploy here')).answers).toEqual([])
    expect(onboardings()).toEqual([])
  })

  test('who decides gets the pull request at once, and merging it closes the issue', async () => {
    const { issue, answers } = await ask('ada', form({ Role: 'admin' }))
    const [opened] = onboardings()
    expect(answers[0]).toContain(`**Next:** #${opened!.issue.number} adds it`)
    expect(opened?.issue.body).toContain(`Closes #${issue}`)
    const file = stage.github.readFile(FLEET, opened!.head.sha, 'tenants/base/ops-team/rbac.yaml')
    expect(file).toMatch(/kind: ClusterRole\n {2}name: admin\n/)
    const { id: installation } = [...stage.github.world.installations.values()][0]!
    await stage.site.queue.add('tenant-request', { installation, owner: 'acme', repo: 'fleet', issue })
    await stage.settle()
    expect(answersOn(issue)).toEqual(answers)
    expect(onboardings()).toHaveLength(1)
  })

  test('the repository of a tenant is no second tenant', async () => {
    const taken = { Tenant: 'other', Repository: 'https://github.com/acme/dev-team', Namespaces: 'other' }
    const { answers } = await ask('ada', form(taken))
    expect(answers[0]).toContain('A repository belongs to one tenant')
    const onTeam = stage.github.issue({ repo: 'acme/dev-team', title: 'x', body: form(), as: 'dora' }).number
    await stage.settle()
    expect(stage.github.commentsOf('acme/dev-team', onTeam), 'only a fleet takes tenants').toEqual([])
  })

  test('nor under a name that either of them had before', async () => {
    const { github } = stage
    const { issue } = await ask('otto', 'Hello')
    const line = (repo: string) =>
      `/bailiwick onboard second --repo https://github.com/acme/${repo} --namespace second --cluster staging`
    github.rename('acme/dev-team', 'storefront')
    await stage.settle()
    const answered = async (repo: string) =>
      (await command(stage, { repo: FLEET, issue, as: 'ada', body: line(repo) })).replies[0]
    expect(await answered('storefront')).toContain('is already the source of a tenant')
    expect(await answered('dev-team')).toMatch(/was renamed|has another name now|belongs to one tenant|source of/)
    github.rename('acme/storefront', 'dev-team')
    await stage.settle()
  })

  test('nobody onboards a repository that they do not administer', async () => {
    const { issue } = await ask('otto', 'Hello')
    const { reactions, replies } = await command(stage, { repo: FLEET, issue, as: 'max', body: LINE })
    expect(reactions).toEqual(['confused'])
    expect(replies[0]).toContain('may not request a tenant for')
  })

  test('every request was one that GitHub describes', () => {
    expect(stage.github.violations).toEqual([])
    expect(stage.github.responseViolations).toEqual([])
  })
})

describe('a private repository that the person who asks may not read', () => {
  test('is answered like one that is not there: no folder of it decides, and nobody says that it exists', async () => {
    const { github } = stage
    const files = { 'staging/kustomization.yaml': 'resources: []\n' }
    github.addRepository({ owner: 'acme', name: 'vault', files })
    const answerTo = async (name: string) => {
      const { answers } = await ask('otto', form({ Tenant: 'depot', Repository: `https://github.com/acme/${name}` }))
      return answers.join().replaceAll(name, 'NAME')
    }
    const there = await answerTo('vault')
    expect(there).toContain('NAME')
    expect(there).toBe(await answerTo('abyss'))
    giveRoles(github, 'acme/vault', { otto: 'read' })
    expect(await answerTo('vault')).toContain('may not request')
  }, 60_000)
})
