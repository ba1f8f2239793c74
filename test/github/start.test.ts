import { Octokit } from '@octokit/rest'
import { ProbotOctokit } from 'probot'
import { afterEach, expect, test } from 'vitest'
import { type FakeGitHub, startGitHub } from './start.ts'

let github: FakeGitHub
afterEach(async () => {
  expect(github.responseViolations).toEqual([])
  await github.close()
})

async function fleet() {
  github = await startGitHub({ checkResponses: true })
  github.addOrganization('acme', { admins: ['ada'], members: ['dev'] })
  github.addRepository({
    owner: 'acme',
    name: 'fleet',
    files: { 'a.txt': '1\n', 'b.txt': '1\n' },
    roles: { dev: 'write' },
  })
  const installation = github.install(github.app, 'acme')
  const Quiet = ProbotOctokit.defaults({ throttle: { enabled: false }, retry: { enabled: false } })
  const { id: appId, privateKey } = github.app
  const octokit = new Quiet({ baseUrl: github.url, auth: { appId, privateKey, installationId: installation.id } })
  return { octokit, installation }
}

const repo = { owner: 'acme', repo: 'fleet' }

test('an app gets a token by itself and reads a repository', async () => {
  const { octokit } = await fleet()
  const { data } = await octokit.rest.repos.get(repo)
  expect(data.full_name).toBe('acme/fleet')
  const { data: ref } = await octokit.rest.git.getRef({ ...repo, ref: 'heads/main' })
  expect(ref.object.sha).toBe(github.commitOf('acme/fleet', 'main'))
  expect(github.violations).toEqual([])
  expect(github.unknown).toEqual([])
})

test('two pull requests that touch different files are both kept', async () => {
  const { octokit } = await fleet()
  for (const name of ['a', 'b']) {
    github.push({
      repo: 'acme/fleet',
      branch: name,
      files: { [`${name}.txt`]: '2\n' },
      as: 'dev',
      parent: github.commitOf('acme/fleet', 'main'),
    })
    github.openPullRequest({ repo: 'acme/fleet', head: name, as: 'dev' })
  }
  for (const pull_number of [1, 2]) {
    const { data } = await octokit.rest.pulls.merge({ ...repo, pull_number })
    expect(data.merged).toBe(true)
  }
  expect(github.readFile('acme/fleet', 'main', 'a.txt')).toBe('2\n')
  expect(github.readFile('acme/fleet', 'main', 'b.txt')).toBe('2\n')
})

test('a person calls with a token of their own', async () => {
  await fleet()
  const octokit = new Octokit({ baseUrl: github.url, auth: github.tokenOf('dev') })
  const { data } = await octokit.rest.users.getAuthenticated()
  expect(data.login).toBe('dev')
})
