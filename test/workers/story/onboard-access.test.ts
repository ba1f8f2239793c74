import { createPublicKey, sign, verify } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { jsonAt, stringAt } from '../../../src/cluster/json.ts'
import { CHECK_NAME } from '../../../src/verdict/check-names.ts'
import { findAssets, NO_ASSETS } from '../../../tools/envtest/assets.ts'
import { command, lastRun } from '../app-flows/commands.ts'
import { hasRedis } from '../queue/start-redis.ts'
import { live, liveStatus } from './live.ts'
import { AUTH, FLEET, ONBOARD, openSealedFleet, openSecret, type SealedFleet, TEAM } from './sealed-fleet.ts'
import { formsOf, keepPrinted, tracesOf } from './traces.ts'

const missing = findAssets() ? undefined : NO_ASSETS
const SECRET = '/api/v1/namespaces/ops/secrets/ops-team-auth'
const SOURCE = '/apis/source.toolkit.fluxcd.io/v1/namespaces/ops/gitrepositories/ops-team'
const DASHBOARD = '/apis/apps/v1/namespaces/ops/deployments/dashboard'
/** The role `admin` is filled by a controller that does not run here. */
const LINE = ONBOARD.replace('--role admin', '--role cluster-admin')
/** Where the API server would show a copy. */
const ELSEWHERE = [
  '/api/v1/events',
  '/api/v1/configmaps',
  '/apis/apps/v1/deployments',
  '/apis/kustomize.toolkit.fluxcd.io/v1/kustomizations',
  '/apis/source.toolkit.fluxcd.io/v1/gitrepositories',
]

describe.skipIf(missing)(`from the request to a running workload${missing ? ` (${missing})` : ''}`, () => {
  let world: SealedFleet
  let printed: string[] = []
  let began = 0
  let before = 0
  beforeAll(async () => {
    printed = keepPrinted()
    world = await openSealedFleet({ clusters: ['staging'], redis: hasRedis, logLevel: 'info' })
  }, 120_000)
  afterAll(async () => {
    vi.restoreAllMocks()
    await world?.stage.close()
  })

  const staging = () => world.stage.clusters.staging!
  const pull = () => world.stage.github.pullRequestsOf(FLEET).at(-1)!
  const secret = async () => {
    const data = jsonAt(await live(staging(), SECRET), 'data') as Record<string, string>
    return new Map(Object.entries(data).map(([name, text]) => [name, Buffer.from(text, 'base64').toString()]))
  }

  test('a comment opens a pull request with the sealed key', async () => {
    const { stage, issue, identity } = world
    began = performance.now()
    before = stage.github.requests.length
    expect((await command(stage, { repo: FLEET, issue, as: 'ada', body: LINE })).reactions).toEqual(['rocket'])
    expect(lastRun(stage.github, FLEET, pull().head.sha, CHECK_NAME)).toMatchObject({ conclusion: 'success' })
    const sealed = stage.github.readFile(FLEET, pull().head.sha, AUTH)!
    const { values } = await openSecret(sealed, identity)
    expect(stage.github.repositoryNamed(TEAM).deployKeys.map(({ key }) => key)).toEqual([
      values['identity.pub']!.trim(),
    ])
    expect(await liveStatus(staging(), SECRET)).toBe(404)
  })

  test('its merge brings Secret, source and workload to the cluster', async ({ annotate }) => {
    const { stage } = world
    expect(stage.github.merge({ repo: FLEET, pull: pull().issue.number, as: 'ada' })).toMatchObject({ status: 200 })
    await stage.settle()
    expect([...(await secret()).keys()].sort()).toEqual(['identity', 'identity.pub', 'known_hosts'])
    expect(stringAt(await live(staging(), SOURCE), 'spec', 'secretRef', 'name')).toBe('ops-team-auth')
    expect(stringAt(await live(staging(), SOURCE), 'spec', 'url')).toBe('ssh://git@github.com/acme/ops-team')
    expect(await liveStatus(staging(), DASHBOARD)).toBe(200)
    const seconds = (performance.now() - began) / 1000
    const requests = stage.github.requests.length - before
    await annotate(`from the comment to the workload: ${seconds.toFixed(1)} s and ${requests} requests to GitHub`)
  })

  test('the identity in the cluster is that of the key on the repository', async () => {
    const values = await secret()
    const [registered] = world.stage.github.repositoryNamed(TEAM).deployKeys
    expect(registered).toMatchObject({ readOnly: true })
    // what the cluster signs is verified by the key that GitHub has, as in SSH's user authentication
    const x = Buffer.from(registered!.key.split(' ')[1]!, 'base64').subarray(-32).toString('base64url')
    const onGitHub = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' })
    const challenge = Buffer.from('session')
    expect(verify(null, challenge, onGitHub, sign(null, challenge, values.get('identity')!))).toBe(true)
    expect(values.get('identity.pub')!.trim()).toBe(registered!.key)
    expect(values.get('known_hosts')).toMatch(/^github\.com ssh-ed25519 /)
  })

  test('the private half is in the sealed file and in the Secret, and nowhere else', async () => {
    const forms = formsOf((await secret()).get('identity')!)
    const sought = [await tracesOf(world.stage, printed)]
    for (const path of ELSEWHERE) sought.push(JSON.stringify((await staging().request('GET', path)).body))
    const all = sought.join('\n')
    // what is searched holds what may be there: the sealed file, the public half, and what the worker wrote
    expect(all).toContain(world.stage.github.repositoryNamed(TEAM).deployKeys[0]!.key)
    expect(all).toContain('ENC[AES256_GCM')
    expect(all).toContain('dashboard')
    expect(forms.filter(form => all.includes(form))).toEqual([])
    // the search itself finds one where it is
    expect(JSON.stringify((await staging().request('GET', SECRET)).body)).toContain(forms[3])
  })

  test('each request was one that GitHub describes', () => {
    expect([world.stage.github.violations, world.stage.github.unknown]).toEqual([[], []])
  })
})
