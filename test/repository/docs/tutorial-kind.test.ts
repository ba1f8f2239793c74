import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parse, parseAllDocuments } from 'yaml'
import { parseClusters } from '../../../src/cluster/clusters-file.ts'
import type { Json } from '../../../src/kube/node.ts'
import { findAssets, NO_ASSETS } from '../../../tools/envtest/assets.ts'
import { findFlux, NO_FLUX } from '../../../tools/envtest/flux-assets.ts'
import { startCluster, type TestCluster } from '../../../tools/envtest/start.ts'
import { run } from '../../surface/cli/run-main.ts'
import { blocksOf } from './blocks-of.ts'
import { ON_KIND, PAGE_WORLDS } from './page-worlds.ts'
import { Shell, stepsOf } from './run-page.ts'

const root = join(import.meta.dirname, '../../..')
const page = readFileSync(join(root, 'docs/tutorial.md'), 'utf8')
const home = mkdtempSync(join(tmpdir(), 'bailiwick-kind-'))
const shell = new Shell(home)
afterAll(() => rmSync(home, { recursive: true, force: true }))

beforeAll(() => PAGE_WORLDS.get(ON_KIND)!(shell, home))

test('the commands that need neither Docker nor GitHub do what docs/tutorial.md says', () => {
  for (const { line, commands, code, output } of stepsOf(page, ON_KIND)) {
    const ran = shell.run(commands)
    expect({ line, commands, ...ran }).toEqual({ line, commands, code, output: output.trim(), stderr: '' })
  }
  const [binding] = parseClusters(readFileSync(join(home, 'clusters.yaml'), 'utf8'), join(home, 'clusters.yaml'))
  expect(binding).toMatchObject({ name: 'staging', mode: 'reconcile', fleet: 'https://github.com/acme/fleet' })
}, 300_000)

const flux = findFlux()
test.skipIf(!flux)(`every flag of flux on the page exists${flux ? '' : ` (${NO_FLUX})`}`, () => {
  const lines = blocksOf(page).flatMap(({ text }) => [...text.matchAll(/^flux (.+)$/gm)].map(([, line = '']) => line))
  expect(lines.length).toBeGreaterThan(1)
  for (const line of lines) {
    const words = line.split(' ')
    const verbs = words
      .filter((word, index) => /^[a-z]+$/.test(word) && !words[index - 1]?.startsWith('--'))
      .slice(0, 3)
    const help = execFileSync(flux!.cli, [...verbs, '--help'], { encoding: 'utf8' })
    for (const [flag] of line.matchAll(/--[a-z-]+/g)) expect(help, line).toMatch(new RegExp(`${flag}\\b`))
  }
})

const missing = findAssets() ? (flux ? undefined : NO_FLUX) : NO_ASSETS
describe.skipIf(missing)(`a real API server with the definitions of Flux${missing ? ` (${missing})` : ''}`, () => {
  let cluster: TestCluster
  beforeAll(async () => {
    cluster = await startCluster({ workerRbac: false })
  }, 120_000)
  afterAll(() => cluster?.stop())

  test('accepts the tenants, their deployments and the rights of the worker', async () => {
    for (const kind of ['kustomize.toolkit.fluxcd.io_kustomizations', 'source.toolkit.fluxcd.io_gitrepositories']) {
      const definition = parse(readFileSync(join(flux!.definitions, `${kind}.yaml`), 'utf8'))
      const { status } = await cluster.request(
        'POST',
        '/apis/apiextensions.k8s.io/v1/customresourcedefinitions',
        definition,
      )
      expect(status, kind).toBe(201)
    }
    for (const name of ['flux-system', 'bailiwick-system'])
      await cluster.request('POST', '/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name } })
    const built = await run(join(home, 'fleet'), 'build', '--cluster', 'staging', '--repos-dir', '..')
    expect([built.code, built.stderr]).toEqual([0, ''])
    const texts = [built.stdout, readFileSync(join(home, 'worker-rbac.yaml'), 'utf8')]
    const objects = texts.flatMap(text => parseAllDocuments(text).map(one => one.toJSON() as Manifest))
    const sent = objects.filter(one => one !== null && one.kind in PLURALS)
    expect(new Set(sent.map(({ kind }) => kind))).toEqual(new Set(Object.keys(PLURALS)))
    for (const object of sent.toSorted((a, b) => Number(b.kind === 'Namespace') - Number(a.kind === 'Namespace'))) {
      const path = `${pathOf(object)}?fieldManager=test&force=true&fieldValidation=Strict`
      await expect
        .poll(
          async () => {
            const { status, body } = await cluster.request('PATCH', path, object as unknown as Json, APPLY)
            return status < 300 ? 'accepted' : body
          },
          { timeout: 15_000 },
        )
        .toBe('accepted')
    }
  }, 120_000)
})

interface Manifest {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: { readonly name: string; readonly namespace?: string }
}

const APPLY = { contentType: 'application/apply-patch+yaml' }
const PLURALS: Readonly<Record<string, string>> = {
  Namespace: 'namespaces',
  ServiceAccount: 'serviceaccounts',
  Role: 'roles',
  RoleBinding: 'rolebindings',
  ClusterRole: 'clusterroles',
  GitRepository: 'gitrepositories',
  Kustomization: 'kustomizations',
  Deployment: 'deployments',
}

function pathOf({ apiVersion, kind, metadata: { name, namespace } }: Manifest): string {
  const group = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`
  return `${group}${namespace === undefined ? '' : `/namespaces/${namespace}`}/${PLURALS[kind]}/${name}`
}
