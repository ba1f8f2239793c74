import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { run } from './run-main.ts'

const ROOT = join(import.meta.dirname, '../../..')
const directory = mkdtempSync(join(tmpdir(), 'bailiwick-deployed-worker-'))
afterAll(() => rmSync(directory, { recursive: true, force: true }))

const fleet = (dir: string) => [
  'fleet',
  '--url',
  'https://github.com/acme/fleet',
  '--repo',
  `https://github.com/acme/dev-team=${dir}/dev-team`,
]

/** The fleet of acme, with deploy/worker and what `worker-rbac` prints for it in a folder of the platform. */
async function withWorker(name: string): Promise<string> {
  const dir = join(directory, name)
  cpSync(join(ROOT, 'test/fleet/fleets/acme'), dir, { recursive: true })
  const folder = join(dir, 'fleet/infrastructure/bailiwick')
  const printed = await run(dir, 'worker-rbac', ...fleet(dir), '--cluster', 'staging')
  expect(printed.code).toBe(0)
  cpSync(join(ROOT, 'deploy/worker'), folder, { recursive: true })
  // as docs/worker.md says: what is printed holds rbac.yaml, namespace.yaml and account.yaml, with more rules
  writeFileSync(join(folder, 'rbac.yaml'), printed.stdout)
  writeFileSync(
    join(folder, 'kustomization.yaml'),
    `apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
resources: [rbac.yaml, deployment.yaml, network-policy.yaml, disruption-budget.yaml]
configMapGenerator:
  - name: bailiwick-clusters
    namespace: bailiwick-system
    files: [clusters.yaml]
`,
  )
  writeFileSync(
    join(dir, 'fleet/clusters/staging/bailiwick.yaml'),
    `apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata:
  name: bailiwick
  namespace: flux-system
spec:
  interval: 15m0s
  sourceRef:
    kind: GitRepository
    name: flux-system
  serviceAccountName: kustomize-controller
  path: ./infrastructure/bailiwick
  prune: true
`,
  )
  return dir
}

const check = async (dir: string) => {
  const { code, stdout } = await run(dir, 'check', ...fleet(dir), '-o', 'json')
  const said = JSON.parse(stdout)
  return { code, said }
}

test('a fleet that installs the worker passes, and the worker is evaluated', async () => {
  const dir = await withWorker('platform')
  const before = await check(join(ROOT, 'test/fleet/fleets/acme'))
  const { code, said } = await check(dir)
  expect({ code, violations: said.violations, errors: said.errors, warnings: said.warnings }).toEqual({
    ...{ code: 0, violations: [], errors: [], warnings: before.said.warnings },
  })
  expect(said.notEvaluated).toEqual(before.said.notEvaluated)
  expect(said.evaluated.kustomizations.reached).toBe(before.said.evaluated.kustomizations.reached + 1)
  const rendered = await run(ROOT, 'render', join(dir, 'fleet/infrastructure/bailiwick'), '-o', 'json')
  const objects = JSON.parse(rendered.stdout).length
  expect(objects).toBeGreaterThan(15)
  expect(said.evaluated.objects).toBe(before.said.evaluated.objects + objects + 1)
})

test('the same in the repository of a tenant does not pass', async () => {
  const dir = await withWorker('tenant')
  cpSync(join(ROOT, 'deploy/worker'), join(dir, 'dev-team/base/bailiwick'), { recursive: true })
  const file = join(dir, 'dev-team/base/kustomization.yaml')
  writeFileSync(file, readFileSync(file, 'utf8').replace('  - widget.yaml\n', '  - widget.yaml\n  - bailiwick\n'))
  const { code, said } = await check(dir)
  expect(code).toBe(1)
  const rules = new Set(said.violations.map(({ rule }: { rule: string }) => rule))
  expect([...rules].sort()).toEqual([
    'cluster-scoped-forbidden',
    'namespace-ownership',
    'prune-protected',
    'rbac-cluster-binding',
  ])
})
