import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { FLUX_RENDER, fluxRender } from '../../tools/oracles/real-programs.ts'
import { scratch } from '../surface/cli/run-main.ts'

const FILE = `apiVersion: v1
kind: ConfigMap
metadata: {name: x, namespace: apps}
data: {a: "\${A}", b: c}
`

/** Why no place is inert in what the platform applies, and why RBAC confines what stands in a tenant's (docs/fleet-file.md). */
describe.skipIf(!FLUX_RENDER)('a value that ends its field, in Flux itself (needs flux-render)', () => {
  const rendered = (value: string) => {
    const root = scratch()
    mkdirSync(join(root, 'd'))
    writeFileSync(join(root, 'd/all.yaml'), FILE)
    const metadata = { name: 'x', namespace: 'apps' }
    const spec = { path: './d', postBuild: { substitute: { A: value } } }
    const kustomization = { apiVersion: 'kustomize.toolkit.fluxcd.io/v1', kind: 'Kustomization', metadata, spec }
    return fluxRender(FLUX_RENDER!, { root, kustomization })
  }

  test('loses its line feeds', () => {
    expect(rendered('x\nb')).toMatchObject({ objects: [{ data: { a: 'xb', b: 'c' } }] })
  })

  test('keeps its carriage returns, and so becomes another object', () => {
    const other = 'x\rapiVersion: v1\rkind: Pod\rmetadata: {name: other, namespace: kube-system}\r...\r'
    expect(rendered(other)).toMatchObject({
      objects: [{ kind: 'Pod', metadata: { name: 'other', namespace: 'kube-system' } }],
    })
  })
})
