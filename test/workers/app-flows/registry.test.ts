import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startRegistry, type TestRegistry } from '../../cluster/oci/start-registry.ts'
import { fleetFiles } from '../../fleet/fleets/read-fleet.ts'
import { findProgram } from '../../repository/runner/programs.ts'
import { type Stage, startStage } from '../story/stage.ts'
import { lastRun } from './commands.ts'

const FLEET = 'acme/fleet'
const program = findProgram('registry')

const binding = (namespace: string) => `apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: web, namespace: ${namespace}}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: cluster-admin}
subjects: [{kind: ServiceAccount, name: dev-team, namespace: apps}]
`

describe.skipIf(!program)('a tenant whose workload comes from a registry', () => {
  let stage: Stage
  let registry: TestRegistry
  beforeAll(async () => {
    registry = await startRegistry(program!)
    stage = await startStage({ settings: { OCI_HOSTS: `http://${registry.host}` } })
    await stage.settle()
  }, 60_000)
  afterAll(async () => {
    await stage?.close()
    await registry?.close()
  })

  const source = () => `apiVersion: source.toolkit.fluxcd.io/v1
kind: OCIRepository
metadata: {name: web, namespace: apps}
spec: {interval: 1h, url: 'oci://${registry.host}/dev/web', insecure: true, ref: {tag: stable}}
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: web, namespace: apps}
spec: {interval: 1h, path: ./, prune: true, serviceAccountName: dev-team, sourceRef: {kind: OCIRepository, name: web}}
`

  async function proposed(branch: string): Promise<{ conclusion: string | undefined; text: string }> {
    const { github } = stage
    const list = 'tenants/base/dev-team/kustomization.yaml'
    const files = {
      'tenants/base/dev-team/web.yaml': source(),
      [list]: `${fleetFiles(FLEET)[list]}  - web.yaml\n`,
    }
    github.propose({ repo: FLEET, branch, files, as: 'ada' })
    await stage.settle()
    const run = lastRun(github, FLEET, branch)
    return { conclusion: run?.conclusion ?? undefined, text: `${run?.output?.summary}\n${run?.output?.text ?? ''}` }
  }

  test('its artifact is rendered and evaluated like git: what is forbidden there blocks', async () => {
    await registry.push('dev/web', 'stable', {
      'web.yaml': 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web, namespace: apps}\ndata: {a: b}\n',
    })
    const good = await proposed('good')
    expect(good.text).not.toContain('not visible: ')
    await registry.push('dev/web', 'stable', { 'web.yaml': binding('kube-system') })
    const bad = await proposed('bad')
    expect(bad.conclusion).toBe('failure')
    expect(bad.text).toContain('kube-system')
  })
})
