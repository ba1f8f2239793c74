import { join } from 'node:path'
import { expect, test } from 'vitest'
import { buildFleet } from '../../../src/fleet/graph/build-fleet.ts'
import { openSnapshot, packSnapshot } from '../../../src/git/tree.ts'
import { type Json, toJson } from '../../../src/kube/node.ts'
import { parseDocuments } from '../../../src/kube/yaml/parse-documents.ts'
import { comparable } from '../../../tools/oracles/fixtures.ts'
import { FLUX_RENDER, fluxRender } from '../../../tools/oracles/real-programs.ts'
import { fleetFiles } from '../../fleet/fleets/read-fleet.ts'
import { run, scratch, write } from './run-main.ts'

const ACME = join(import.meta.dirname, '../../fleet/fleets/acme')
const ADDRESS = 'https://github.com/acme/'
const ARGUMENTS = [...['--url', `${ADDRESS}fleet`], ...['--repo', `${ADDRESS}dev-team=${ACME}/dev-team`]]

type Shown = { [key: string]: Json } & { namespace: string; name: string; path: string; objects: Json[] }

async function built(cluster: string): Promise<Shown[]> {
  const { code, stdout, stderr } = await run(ACME, 'build', 'fleet', '--cluster', cluster, ...ARGUMENTS, '-o', 'json')
  expect([code, stderr]).toEqual([0, ''])
  return JSON.parse(stdout) as Shown[]
}

test('every Kustomization of a cluster renders what Flux would apply', { timeout: 60_000 }, async context => {
  const program = FLUX_RENDER ?? context.skip('no flux-render on this machine')
  let compared = 0
  for (const cluster of ['staging', 'production']) {
    const nodes = await built(cluster)
    const declared = nodes.flatMap(node => node.objects as { [key: string]: Json }[])
    for (const node of nodes) {
      const source = node.source as { url: string }
      const root = join(ACME, source.url.slice(ADDRESS.length))
      const kustomization = declared.find(
        ({ kind, metadata }) => kind === 'Kustomization' && (metadata as Shown).name === node.name,
      ) ?? { kind: 'Kustomization', metadata: { name: node.name }, spec: { path: node.path } }
      const expected = fluxRender(program, { root, kustomization })
      expect('objects' in expected && expected.objects.map(comparable), `${cluster} ${node.name}`).toEqual(
        node.objects.map(comparable),
      )
      compared++
    }
  }
  expect(compared).toBeGreaterThan(6)
})

test('yaml holds the same objects, each below the name of its Kustomization', async () => {
  const nodes = await built('staging')
  const { stdout } = await run(ACME, 'build', 'fleet', '--cluster', 'staging', ...ARGUMENTS)
  const documents = parseDocuments({ repository: '', path: 'out' }, Buffer.from(stdout)).map(toJson)
  expect(documents.map(comparable)).toEqual(nodes.flatMap(node => node.objects.map(comparable)))
  for (const { namespace, name } of nodes) expect(stdout).toContain(`# Kustomization ${namespace}/${name}: `)
})

test('a source that nobody gave is named, what cannot be rendered ends in 2', async () => {
  const unseen = await run(ACME, 'build', 'fleet', '--cluster', 'staging', '--url', `${ADDRESS}fleet`)
  expect(unseen.code).toBe(0)
  expect(unseen.stderr).toContain(`not visible: staging/apps/dev-team (${ADDRESS}dev-team), not given: --repo `)

  const broken = write(scratch(), { 'clusters/one/kustomization.yaml': 'resources:\n- gone.yaml\n' })
  const { code, stderr } = await run(broken, 'build', '--cluster', 'one')
  expect([code, stderr]).toEqual([
    2,
    expect.stringMatching(/^error\[kustomize-missing\]: .*clusters\/one\/kustomization\.yaml:2.*\n$/),
  ])
})

test('wrong use is refused with what there is', async () => {
  expect((await run(ACME, 'build', 'fleet')).stderr).toMatch(
    /^error\[usage\]: --cluster is missing\. Run bailiwick help build\.\n$/,
  )
  const other = await run(ACME, 'build', 'fleet', '--cluster', 'prod')
  expect([other.code, other.stderr]).toEqual([2, expect.stringContaining('there are: production, staging')])
  expect((await run(ACME, 'build', 'fleet', '--cluster', 'staging', '-o', 'text')).code).toBe(2)
  expect((await run(ACME, 'build', 'fleet', 'more', '--cluster', 'staging')).code).toBe(2)
})

test('no other cluster is built, and one that there is not is said with those that there are', async () => {
  const files = Object.entries(fleetFiles('acme/fleet')).map(([path, content]) => ({ path, content }))
  const tree = openSnapshot(packSnapshot(files))
  const input = { fleet: { url: `${ADDRESS}fleet`, branch: 'main', commit: '', tree }, sources: [], opaque: [] }
  const keysOf = (only?: string) => buildFleet({ ...input, ...(only ? { only } : {}) }).nodes.map(node => node.key)
  const staging = keysOf().filter(key => key.startsWith('staging/'))
  expect(staging).not.toEqual(keysOf())
  expect(keysOf('staging')).toEqual(staging)
  expect(keysOf('nowhere')).toEqual(keysOf())
})

test('a part that was left out is an error beside what was built', async () => {
  const files = fleetFiles('acme/fleet')
  const dir = write(scratch(), files)
  const path = 'tenants/staging/kustomization.yaml'
  write(dir, { [path]: `${files[path]}vars: [{ name: X, objref: { kind: Service, name: x, apiVersion: v1 } }]\n` })
  const ran = await run(dir, 'build', '--cluster', 'staging', '--url', `${ADDRESS}fleet`)
  expect([ran.code, ran.stderr]).toEqual([
    2,
    expect.stringMatching(/^error\[kustomize-unsupported\]: .*kustomization\.yaml:\d+/),
  ])
})
