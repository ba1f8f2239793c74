import { afterEach, beforeEach, expect, test } from 'vitest'
import { clientOf, FLEET, NAME } from '../../tools/github/acme.ts'
import { hearing } from './hearing.ts'

const CHECK = 'bailiwick / tenancy'

let env: Awaited<ReturnType<typeof hearing>>
let number: number
let head: string
beforeEach(async () => {
  env = await hearing()
  head = env.github.push({ repo: NAME, branch: 'topic', files: { t: '1' }, as: 'dev' }).sha
  number = env.github.openPullRequest({ repo: NAME, head: 'topic', as: 'dev' }).issue.number
  await env.hush()
})
afterEach(async () => {
  expect(await env.faults()).toEqual([])
  expect(env.github.responseViolations).toEqual([])
  await env.close()
})

const required = (integration_id?: number, strict = false) => ({
  type: 'required_status_checks' as const,
  parameters: {
    required_status_checks: [{ context: CHECK, ...(integration_id === undefined ? {} : { integration_id }) }],
    strict_required_status_checks_policy: strict,
  },
})
const merge = (as = 'dev') => env.github.merge({ repo: NAME, pull: number, as })
const report = (conclusion: 'success' | 'failure') =>
  env.app.rest.checks.create({ ...FLEET, name: CHECK, head_sha: head, conclusion })

test('a ruleset with a required check of one app holds the merge, for admins too', async () => {
  env.github.setRuleset(NAME, { rules: [required(env.github.app.id)] })
  const refused = { status: 405, message: expect.stringContaining(`"${CHECK}" is expected`) }
  expect([merge(), merge('ada')]).toMatchObject([refused, refused])
  const other = env.github.addApp({ slug: 'forger' })
  const theirs = clientOf(env.github, other, env.github.install(other, 'acme')) as typeof env.app
  await theirs.rest.checks.create({ ...FLEET, name: CHECK, head_sha: head, conclusion: 'success' })
  expect(merge().status).toBe(405)
  await report('success')
  expect(merge().status).toBe(200)
})

test('evaluate and disabled hold nothing and are not shown as rules', async () => {
  const { repos } = env.app.rest
  const rules = async () => (await repos.getBranchRules({ ...FLEET, branch: 'main' })).data
  const ruleset = env.github.setRuleset(NAME, { rules: [required()] })
  expect(await rules()).toMatchObject([
    { type: 'required_status_checks', ruleset_source_type: 'Repository', ruleset_source: NAME, ruleset_id: ruleset.id },
  ])
  env.github.setRuleset(NAME, { enforcement: 'evaluate' })
  expect((await env.last('repository_ruleset.edited')).changes).toEqual({ enforcement: { from: 'active' } })
  expect(await rules()).toEqual([])
  env.github.setRuleset(NAME, { enforcement: 'disabled' })
  expect(await rules()).toEqual([])
  expect(merge().status).toBe(200)
})

test('which branches: the default one, patterns, all, and never the excluded', async () => {
  const types = async (branch: string) => {
    const { data } = await env.app.rest.repos.getBranchRules({ ...FLEET, branch })
    return data.map(rule => rule.type)
  }
  const include = (...names: string[]) => ({ ref_name: { include: names, exclude: ['refs/heads/release/old'] } })
  env.github.setRuleset(NAME, { name: 'a', rules: [{ type: 'deletion' }], conditions: include('refs/heads/release/*') })
  env.github.setRuleset(NAME, { name: 'b', rules: [{ type: 'non_fast_forward' }], conditions: include('~ALL') })
  env.github.setRuleset(NAME, { name: 'c', rules: [{ type: 'update' }] })
  expect(await types('main')).toEqual(['non_fast_forward', 'update'])
  expect(await types('release/1')).toEqual(['deletion', 'non_fast_forward'])
  expect(await types('release/old')).toEqual([])
  expect(await types('release/1/2')).toEqual(['non_fast_forward'])
})

test('the organisation’s rulesets hold and are shown, where they mean the repository', async () => {
  const ref_name = { include: ['~DEFAULT_BRANCH'], exclude: [] }
  const conditions = { ref_name, repository_name: { include: ['fl*'], exclude: [] } }
  env.github.setOrganizationRuleset('acme', { rules: [required()], conditions })
  const { repos } = env.app.rest
  expect((await repos.getBranchRules({ ...FLEET, branch: 'main' })).data).toMatchObject([
    { ruleset_source_type: 'Organization', ruleset_source: 'acme' },
  ])
  expect(merge().status).toBe(405)
  expect((await repos.getRepoRulesets(FLEET)).data).toHaveLength(1)
  expect((await repos.getRepoRulesets({ ...FLEET, includes_parents: false })).data).toEqual([])
  env.github.setOrganizationRuleset('acme', {
    conditions: { ref_name, repository_name: { include: ['other'], exclude: [] } },
  })
  expect(merge().status).toBe(200)
})

test('who may pass: a role, an app, and through pull requests only', async () => {
  const rules = [required()]
  const push = (as: string) => env.github.push({ repo: NAME, files: { x: as }, as })
  env.github.setRuleset(NAME, { rules, bypassActors: [{ actor_id: 5, actor_type: 'RepositoryRole' }] })
  expect(() => push('dev')).toThrow(/Repository rule violations found/)
  push('ada')
  const bypass_mode = 'pull_request' as const
  env.github.setRuleset(NAME, { bypassActors: [{ actor_id: 5, actor_type: 'RepositoryRole', bypass_mode }] })
  expect(() => push('ada')).toThrow(/Repository rule violations found/)
  expect(merge('ada').status).toBe(200)
  const id = env.github.app.id
  env.github.setRuleset(NAME, { bypassActors: [{ actor_id: id, actor_type: 'Integration' }] })
  const content = Buffer.from('x').toString('base64')
  const put = (path: string) => env.app.rest.repos.createOrUpdateFileContents({ ...FLEET, path, message: 'm', content })
  expect((await put('one')).status).toBe(201)
  env.github.setRuleset(NAME, { bypassActors: [] })
  await expect(put('two')).rejects.toMatchObject({ status: 409 })
})

test('an app sets and changes it only with administration:write, which also shows who may pass', async () => {
  const rules = [required(env.github.app.id)]
  const wish = { name: 'gate', target: 'branch' as const, enforcement: 'active' as const, rules }
  const conditions = { ref_name: { include: ['~DEFAULT_BRANCH'], exclude: [] } }
  await expect(env.app.rest.repos.createRepoRuleset({ ...FLEET, ...wish })).rejects.toMatchObject({ status: 403 })
  const permissions = { administration: 'write', metadata: 'read' } as const
  const strong = env.github.addApp({ slug: 'strong', permissions })
  const { repos } = (clientOf(env.github, strong, env.github.install(strong, 'acme')) as typeof env.app).rest
  const bypass_actors = [{ actor_id: 1, actor_type: 'OrganizationAdmin' as const, bypass_mode: 'always' as const }]
  const { data } = await repos.createRepoRuleset({ ...FLEET, ...wish, conditions, bypass_actors })
  expect((await env.last('repository_ruleset.created')).sender.login).toBe('strong[bot]')
  expect(data).toMatchObject({ bypass_actors, source: NAME, rules: wish.rules })
  const one = { ...FLEET, ruleset_id: data.id }
  expect((await env.app.rest.repos.getRepoRuleset(one)).data).not.toHaveProperty('bypass_actors')
  await repos.updateRepoRuleset({ ...one, enforcement: 'disabled' })
  expect((await repos.getRepoRuleset(one)).data).toMatchObject({ enforcement: 'disabled', rules: wish.rules })
  await expect(repos.createRepoRuleset({ ...FLEET, ...wish })).rejects.toMatchObject({ status: 422 })
  await repos.deleteRepoRuleset(one)
  await expect(env.app.rest.repos.getRepoRuleset(one)).rejects.toMatchObject({ status: 404 })
})

test('reviews: so many, nobody against, dismissed by a push, and threads resolved', async () => {
  const parameters = {
    ...{ required_approving_review_count: 1, dismiss_stale_reviews_on_push: true, require_code_owner_review: false },
    ...{ require_last_push_approval: false, required_review_thread_resolution: true },
  }
  env.github.setRuleset(NAME, { rules: [{ type: 'pull_request', parameters }] })
  const refused = (text: string) =>
    expect(merge()).toMatchObject({ status: 405, message: expect.stringContaining(text) })
  refused('At least 1 approving review')
  env.github.review({ repo: NAME, pull: number, as: 'eve' })
  refused('At least 1 approving review')
  env.github.review({ repo: NAME, pull: number, as: 'ada', state: 'CHANGES_REQUESTED', body: 'no' })
  refused('Changes have been requested')
  const comments = [{ path: 't', line: 1, body: 'why?' }]
  const review = env.github.review({ repo: NAME, pull: number, as: 'ada', comments })
  env.github.push({ repo: NAME, branch: 'topic', files: { u: '1' }, as: 'dev' })
  expect((await env.last('pull_request_review.dismissed')).review.state).toBe('dismissed')
  refused('At least 1 approving review')
  env.github.review({ repo: NAME, pull: number, as: 'ada' })
  refused('conversation')
  env.github.resolveThread({ repo: NAME, pull: number, comment: review.comments[0]!.id, as: 'dev' })
  expect(merge().status).toBe(200)
})

test('classic protection tells each change', async () => {
  const checks = [{ context: CHECK, appId: env.github.app.id }]
  env.github.setProtection(NAME, { checks, as: 'ada' })
  expect(await env.last('branch_protection_rule.created')).toMatchObject({
    ...{ rule: { name: 'main', required_status_checks: [CHECK] }, sender: { login: 'ada' } },
  })
  env.github.setProtection(NAME, { checks: [], as: 'ada' })
  const { changes } = await env.last('branch_protection_rule.edited')
  expect(changes.required_status_checks).toEqual({ from: [CHECK] })
  await env.as('ada').rest.repos.deleteBranchProtection({ ...FLEET, branch: 'main' })
  expect((await env.last('branch_protection_rule.deleted')).rule.name).toBe('main')
})

test('a rule of a merge queue is a merge queue', async () => {
  const parameters = {
    ...{ check_response_timeout_minutes: 60, grouping_strategy: 'ALLGREEN', max_entries_to_build: 5 },
    ...{
      max_entries_to_merge: 5,
      merge_method: 'MERGE',
      min_entries_to_merge: 1,
      min_entries_to_merge_wait_minutes: 5,
    },
  }
  env.github.setRuleset(NAME, { rules: [required(), { type: 'merge_queue', parameters }] })
  await report('success')
  expect(merge()).toMatchObject({ status: 405, message: expect.stringContaining('merge queue') })
  const { group } = env.github.enqueue(NAME, number, { as: 'dev' })
  await env.app.rest.checks.create({ ...FLEET, name: CHECK, head_sha: group!.head, conclusion: 'neutral' })
  expect(env.github.commitOf(NAME, 'main')).toBe(group!.head)
})
