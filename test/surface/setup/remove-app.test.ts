import { afterAll, beforeAll, expect, test } from 'vitest'
import { LOOPBACK_PACE } from '../../../src/github/client/client-class.ts'
import { removeApp } from '../../../src/surface/setup/remove-app.ts'
import { acme, FLEET, NAME } from '../../../tools/github/acme.ts'
import { environment } from '../config/environment-of.ts'

let world: Awaited<ReturnType<typeof acme>>
beforeAll(async () => {
  world = await acme()
  const { app, as, github } = world
  const [installation] = github.world.installations.values()
  installation!.permissions = { ...installation!.permissions, administration: 'write' }
  const { data } = await app.rest.git.getRef({ ...FLEET, ref: 'heads/main' })
  for (const ref of ['refs/heads/bailiwick/trail', 'refs/heads/bailiwick/baseline', 'refs/heads/bailiwick-of-a-person'])
    await app.rest.git.createRef({ ...FLEET, ref, sha: data.object.sha })
  await app.rest.issues.create({ ...FLEET, title: 'Bailiwick: what it found in this fleet' })
  await as('ada').rest.issues.create({ ...FLEET, title: 'of a person' })
  await as('ada').rest.issues.createLabel({ ...FLEET, name: 'bailiwick/hold' })
  for (const name of ['Bailiwick', 'Bailiwick (stable)', 'Bailiwick house rules']) {
    const conditions = { ref_name: { include: ['refs/heads/main'], exclude: [] } }
    await as('ada').rest.repos.createRepoRuleset({ ...FLEET, name, enforcement: 'active', conditions, rules: [] })
  }
})
afterAll(() => world.github.close())

async function remove(yes: boolean) {
  const { id, privateKey } = world.github.app
  const lines: string[] = []
  const env = environment({ GITHUB_API_URL: world.github.url, APP_ID: String(id), PRIVATE_KEY: privateKey })
  const left = await removeApp('no-such-file', yes, { env, say: line => lines.push(line), pace: LOOPBACK_PACE })
  return { left, lines }
}

const OURS = [
  `ruleset Bailiwick of ${NAME}`,
  `ruleset Bailiwick (stable) of ${NAME}`,
  `open issue ${NAME}#1`,
  `branch bailiwick/baseline of ${NAME}`,
  `branch bailiwick/trail of ${NAME}`,
  `label bailiwick/hold of ${NAME}`,
]
const named = (lines: readonly string[]) =>
  lines.map(line => line.replace(/^(?:left|removed): | \(not removed yet.*/g, ''))

test('elsewhere than at its settings it says where to run it, not which settings are missing', async () => {
  const removed = removeApp('no-such-file', false, { env: {}, say: () => undefined })
  await expect(removed).rejects.toThrow('no-such-file does not exist, so the App is unknown')
})

test('lists what the App left, and changes nothing', async () => {
  const { left, lines } = await remove(false)
  expect(left).toBe(OURS.length)
  expect(named(lines).sort()).toEqual([...OURS, 'the installation of acme'].sort())
  expect(world.github.world.installations.size).toBe(1)
  expect(world.github.requests.filter(({ method }) => method === 'DELETE')).toEqual([])
})

test('what GitHub refuses is left, with what to do, and so is the installation', async () => {
  const [installation] = world.github.world.installations.values()
  installation!.permissions = { ...installation!.permissions, administration: 'read' }
  const { left, lines } = await remove(true)
  expect(left).toBe(2)
  expect(lines.filter(line => line.startsWith('left: '))).toEqual([
    expect.stringMatching(/^left: ruleset Bailiwick .*To remove it: delete it at Settings/),
    expect.stringMatching(/^left: ruleset Bailiwick \(stable\) /),
    'left: the installation of acme',
  ])
  installation!.permissions = { ...installation!.permissions, administration: 'write' }
})

test('with --yes removes it, then the installation, and nothing of others', async () => {
  const { left, lines } = await remove(true)
  expect([left, lines.at(-1)]).toEqual([0, 'removed: the installation of acme'])
  const { github, as } = world
  expect(github.world.installations.size).toBe(0)
  const refs = await as('ada').rest.git.listMatchingRefs({ ...FLEET, ref: 'heads/' })
  expect(refs.data.map(({ ref }) => ref)).toEqual(['refs/heads/bailiwick-of-a-person', 'refs/heads/main'])
  expect([...github.world.rulesets.values()].map(({ name }) => name)).toEqual(['Bailiwick house rules'])
  const issues = await as('ada').rest.issues.listForRepo({ ...FLEET, state: 'open' })
  expect(issues.data.map(({ title }) => title)).toEqual(['of a person'])
  expect([github.violations, github.unknown]).toEqual([[], []])
})
