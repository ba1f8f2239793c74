import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { findAssets, NO_ASSETS } from '../../../tools/envtest/assets.ts'
import { fleetFiles } from '../../fleet/fleets/read-fleet.ts'
import { live, liveStatus } from './live.ts'
import { saidOfApply } from './said.ts'
import { type Stage, startStage } from './stage.ts'
import { stagingTenants, tenantFiles } from './tenant.ts'
import { deploymentFile } from './tenant-changes.ts'

const missing = findAssets() ? undefined : NO_ASSETS
const OPS = 'acme/ops-team'
const FLEET = 'acme/fleet'
const NODE = 'staging/ops/ops-team'
const TENANT = { name: 'ops-team', namespace: 'ops', url: 'https://github.com/acme/ops-team' }

describe.skipIf(missing)(`what a tenant's Kustomization asks for${missing ? ` (${missing})` : ''}`, () => {
  let stage: Stage
  beforeAll(async () => {
    stage = await startStage({ clusters: ['staging', 'production'] })
    const files = { ...tenantFiles(TENANT), ...stagingTenants(['ops-team']) }
    stage.github.push({ repo: FLEET, files, as: 'ada' })
    await stage.settle()
  })
  afterAll(() => stage?.close())

  const staging = () => stage.clusters.staging!
  const status = (name: string) => liveStatus(staging(), `/apis/apps/v1/namespaces/ops/deployments/${name}`)

  async function setSpec(...spec: string[]): Promise<void> {
    stage.github.push({ repo: FLEET, files: tenantFiles({ ...TENANT, spec }), as: 'ada' })
    await stage.settle()
  }

  /** Operations have these Deployments beside the dashboard, and no others. */
  async function setDeployments(...names: string[]): Promise<void> {
    const files = {
      'more.yaml': names.map(name => deploymentFile(name)).join('---\n'),
      'kustomization.yaml': `resources:\n  - base\n${names.length > 0 ? '  - more.yaml\n' : ''}`,
    }
    stage.github.push({ repo: OPS, files, as: 'ada' })
    await stage.settle()
  }

  test('two clusters get their own overlays', async () => {
    const path = '/apis/example.acme.dev/v1/namespaces/apps/widgets/banner'
    expect(await live(staging(), path)).toMatchObject({ spec: { size: 2, colour: 'blue' } })
    expect(await live(stage.clusters.production!, path)).toMatchObject({ spec: { size: 5, colour: 'green' } })
    expect(await status('dashboard')).toBe(200)
    expect(await liveStatus(stage.clusters.production!, '/api/v1/namespaces/ops')).toBe(404)
  })

  test('suspend: nothing is applied and nothing pruned until it ends', async () => {
    await setDeployments('old')
    expect(await status('old')).toBe(200)
    await setSpec('suspend: true')
    await setDeployments('new')
    expect([await status('old'), await status('new')]).toEqual([200, 404])
    expect(saidOfApply(stage.github, OPS).output.summary).toContain('it is suspended')
    await setSpec()
    expect([await status('old'), await status('new')]).toEqual([404, 200])
  })

  test('prune: false: what git has no more stays', async () => {
    await setSpec('prune: false')
    await setDeployments()
    expect([await status('new'), await status('dashboard')]).toEqual([200, 200])
    await setSpec()
  })

  test.each([['wait: "true"', 'is not true or false']])(
    '%s is not supported: held, and said why; others go on',
    async (line, field) => {
      await setSpec(line)
      await setDeployments('unheard')
      expect(await status('unheard')).toBe(404)
      expect(saidOfApply(stage.github, OPS).output.summary).toContain(`\`${NODE}\` held`)
      expect(saidOfApply(stage.github, OPS).output.summary).toContain(field)
      expect(saidOfApply(stage.github, FLEET).output.summary).toContain('`staging/flux-system/tenants` applied')
      await setDeployments()
      await setSpec()
      expect(saidOfApply(stage.github, OPS)).toMatchObject({ conclusion: 'success' })
    },
  )

  test("a tenant leaves the fleet: once an admin approves it, its objects are pruned as its account, then the account's rights and namespace", async () => {
    await setDeployments('last')
    expect(await status('last')).toBe(200)
    const original = { 'tenants/staging/kustomization.yaml': fleetFiles(FLEET)['tenants/staging/kustomization.yaml']! }
    stage.github.push({ repo: FLEET, files: original, remove: Object.keys(tenantFiles(TENANT)), as: 'ada' })
    await stage.settle()
    const held = saidOfApply(stage.github, FLEET)
    expect(held).toMatchObject({ conclusion: 'failure' })
    expect([await status('last'), await status('dashboard')]).toEqual([200, 200])
    expect(await liveStatus(staging(), '/api/v1/namespaces/ops/serviceaccounts/ops-team')).toBe(200)
    const [command] = /\/bailiwick approve-prune [0-9a-f]{32}/.exec((held.output.summary ?? '').replaceAll('`', ''))!
    const issue = stage.github.issue({ repo: FLEET, title: 'ops leaves', as: 'ada' }).number
    stage.github.comment({ repo: FLEET, issue, as: 'ada', body: command })
    await stage.settle()
    expect([await status('last'), await status('dashboard')]).toEqual([404, 404])
    expect(await liveStatus(staging(), '/api/v1/namespaces/ops/serviceaccounts/ops-team')).toBe(404)
    // without a controller manager nobody finishes the deletion
    expect(await live(staging(), '/api/v1/namespaces/ops')).toMatchObject({
      metadata: { deletionTimestamp: expect.any(String) },
    })
    expect(await liveStatus(staging(), '/apis/apps/v1/namespaces/apps/deployments/storefront')).toBe(200)
    expect(saidOfApply(stage.github, FLEET)).toMatchObject({ conclusion: 'success' })
  })

  test('every request was one that GitHub describes', () => {
    expect(stage.github.violations).toEqual([])
    expect(stage.github.unknown).toEqual([])
  })
})
